"""``Translator``: raw text in, raw text out, with a folder that ``fairseq-xl translate pack`` or a recipe made.

    from fairseq_xl import Translator
    translator = Translator.load("OUT/runs/NAME/model", beam=5)
    translator.translate(["Ein Hund rennt."])

``fairseq-xl translate text`` does the same with files and pipes. CTranslate2 uses a folder of ``fairseq-xl translate
export`` in the same way. This module then imports neither torch nor fairseq, which take seconds.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import fairseq_xl
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.hub import local_folder
from fairseq_xl.io.lexicons import read_translations
from fairseq_xl.text.pipeline import Pipeline
from fairseq_xl.text.unknown_replacement import UNKNOWN
from fairseq_xl.training.batches import batches
from fairseq_xl.translation.options import Decoding

if TYPE_CHECKING:
    import numpy as np

    from fairseq_xl.vectors.substitutes import KnownWords

MIN_COSINE = 0.6
"""How near a known word must be for an unknown one to be read as it: as good as 0.75 on Multi30k's validation set."""


@dataclass(frozen=True)
class Translation:
    """One translation of a sentence, of which there may be several."""

    text: str
    """raw text"""
    score: float
    """as fairseq-generate prints it: log2-probability over length to the power ``lenpen``; 0 for nothing"""
    tokens: list[str]
    """before case and spacing were restored"""
    source: list[str]
    """the tokens that were translated"""
    alignment: list[int] | None
    """for each of ``tokens`` the place in ``source`` it attends to most; None where nobody asked for it, and for a
    model without attention"""
    cut: int = 0
    """how many tokens at the end of the source did not fit into the model"""


class Found(NamedTuple):
    """What a search finds."""

    tokens: list[str]
    """(T) words or pieces, without the end of the sentence"""
    score: float
    """natural log-probability over length to the power ``lenpen``"""
    attention: np.ndarray | None
    """(T, S) or more columns: how each token attends to the source's; None where the search does not find it"""


class Translator(ABC):
    """A model with its text steps.

    The result does not depend on which sentences are given together, up to the rounding of sums. One exception is
    ``max_len_a``: as in fairseq, it limits all translations of a batch by the longest of its sentences.
    """

    def __init__(self, pipeline: Pipeline, options: Decoding, beam: int, longest: int, max_tokens: int) -> None:
        """
        Args:
            pipeline: the text steps.
            options: what becomes of unknown words; the others are the search's business.
            beam: how many hypotheses are followed.
            longest: positions of the source side, of which the end of the sentence takes one.
            max_tokens: source tokens that are translated at once.
        """
        if max_tokens < 1:
            raise InputError(f"batches of {max_tokens} tokens hold nothing: give 1 or more")
        self.pipeline = pipeline
        self.max_tokens = max_tokens
        self.beam = beam
        self.longest = longest
        self.replacements: dict[str, str] | None = None
        """unknown words become the source's, or what this says of those; None: they stay ``<unk>``"""
        if options.replace_unk:
            self.replacements = read_translations(Path(options.lexicon)) if options.lexicon else {}
        distance = options.replace_unk_distance
        self.replacement_distance = math.inf if distance is None else distance
        """how many words from the diagonal the source word may stand"""
        self.reader: KnownWords | None = None
        """reads unknown source words as known ones"""
        if options.read_unknown is not None:
            # imported here: what follows reads vectors, which few translations need
            from fairseq_xl.vectors.substitutes import KnownWords

            cosine = MIN_COSINE if options.read_unknown_cosine is None else options.read_unknown_cosine
            self.reader = KnownWords(self.source_words(), Path(options.read_unknown), cosine)

    @staticmethod
    def load(folder: str | Path, device: str | None = None, max_tokens: int = 2000, **options: object) -> Translator:
        """Read a model folder, or one that ``fairseq-xl translate export`` wrote.

        Args:
            folder: as a recipe leaves it in ``RUN/model`` and ``fairseq-xl translate pack`` or ``export`` makes it; or
                the name of one on the Hugging Face Hub, ``OWNER/MODEL[@REVISION]``.
            device: such as ``cpu`` or ``cuda:1``; by default a GPU where there is one, the CPU for an export.
            max_tokens: source tokens that are translated at once. Memory grows with it, the beam and the
                vocabulary; speed on a GPU does, too.
            options: those of :class:`~fairseq_xl.translation.options.Decoding` (``beam=5``, ``lenpen=0.8``,
                ``decode_score="cosine"``, ``nearest="top"``, …). They go before the folder's own.

        Raises:
            InputError: no model folder, or a damaged one; checkpoints that do not fit its dictionaries; an
                option or device that cannot be used.
        """
        from fairseq_xl.translation.exported import folder as exported

        folder = local_folder(folder)
        if exported.is_export(folder):
            from fairseq_xl.translation.exported.translator import ExportedTranslator

            return ExportedTranslator.open(folder, device, max_tokens, options)
        fairseq_xl.register()
        from fairseq_xl.translation.fairseq_search import FairseqTranslator

        return FairseqTranslator.open(folder, device, max_tokens, options)

    @abstractmethod
    def search(self, sources: list[list[str]], count: int) -> list[list[Found]]:
        """The ``count`` best hypotheses of some sentences' tokens, or more; the longest sentence comes first."""

    def attend(self, sources: list[list[str]], words: list[list[str]]) -> Sequence[np.ndarray | None]:
        """The attention of given translations, where the search leaves it out; None for a model without attention.

        It costs time of its own, so it is asked for where it is wanted.
        """
        return [None] * len(words)

    @abstractmethod
    def source_words(self) -> list[str]:
        """The words, or pieces, that the model knows."""

    @abstractmethod
    def seed(self, number: int) -> None:
        """Where the random numbers of ``sampling`` begin."""

    def translate(self, sentences: Sequence[str]) -> list[str]:
        """The best translation of each sentence; nothing for one without words."""
        return [found[0].text for found in self.candidates(sentences, alignment=False)]

    def candidates(
        self,
        sentences: Sequence[str],
        n_best: int = 1,
        progress: Callable[[int], object] | None = None,
        alignment: bool = True,
    ) -> list[list[Translation]]:
        """The best translations of each sentence, best first.

        A sentence without words has one, without words. Of a sentence that is too long for the model the
        beginning is translated; ``cut`` tells.

        Args:
            sentences: raw text, one sentence each.
            n_best: how many of each, at most the beam.
            progress: called with the number of sentences each time some are done.
            alignment: whether the translations shall have theirs, which takes an export a second pass.

        Raises:
            InputError: more than the beam holds.
        """
        if isinstance(sentences, str):
            raise TypeError("give a list of sentences, not one string")
        if not 1 <= n_best <= self.beam:
            raise InputError(
                f"{n_best} translations of each sentence cannot be had from a beam of {self.beam}: give from 1 to "
                f"{self.beam}, or a larger beam"
            )
        sources = [self.pipeline.tokens(sentence) for sentence in sentences]
        nothing = Translation("", 0.0, [], [], [])
        results = [[nothing] for _ in sources]
        filled = [place for place, source in enumerate(sources) if source]
        if progress is not None:
            progress(len(sources) - len(filled))
        lengths = [min(len(sources[place]) + 1, self.longest) for place in filled]
        for batch in batches(lengths, self.max_tokens):
            places = [filled[i] for i in batch]
            kept = [sources[place][: self.longest - 1] for place in places]
            read = kept if self.reader is None else [self.reader.read(source) for source in kept]
            best = [found[:n_best] for found in self.search(read, n_best)]
            best = self._attended(read, best, alignment)
            for place, source, several in zip(places, kept, best, strict=True):
                cut = len(sources[place]) - len(source)
                results[place] = [self._read(found, source, cut, alignment) for found in several]
            if progress is not None:
                progress(len(places))
        return results

    def _attended(self, sources: list[list[str]], best: list[list[Found]], alignment: bool) -> list[list[Found]]:
        """What was found, with attention wherever it is needed: for an alignment, or to replace an unknown word."""

        def needed(found: Found) -> bool:
            unknown = self.replacements is not None and UNKNOWN in found.tokens
            return found.attention is None and (alignment or unknown)

        wanted = [(source, found) for source, several in zip(sources, best, strict=True) for found in several]
        wanted = [(source, found) for source, found in wanted if needed(found)]
        if not wanted:
            return best
        attention = iter(self.attend([source for source, _ in wanted], [found.tokens for _, found in wanted]))
        return [
            [found._replace(attention=next(attention)) if needed(found) else found for found in several]
            for several in best
        ]

    def _read(self, found: Found, source: list[str], cut: int, aligned: bool) -> Translation:
        tokens, attention = found.tokens, found.attention
        alignment = None
        if attention is not None:
            attention = attention[:, : len(source)]
            if aligned:
                alignment = attention.argmax(1).tolist() if tokens else []
        if self.replacements is not None and UNKNOWN in tokens:
            if attention is None:
                raise InputError("replace_unk: this model records no attention, so leave it out")
            tokens = self._known(tokens, attention, source)
        return Translation(self.pipeline.text(tokens), found.score / math.log(2), tokens, source, alignment, cut)

    def _known(self, tokens: list[str], attention: np.ndarray, source: list[str]) -> list[str]:
        """The tokens, unknown ones replaced; where words are cut into pieces, what comes in begins a word."""
        from fairseq_xl.text.unknown_replacement import Counts, replace_unk

        assert self.replacements is not None
        marks = "sentencepiece" if self.pipeline.pieces else None
        found = replace_unk(tokens, attention, source, self.replacements, Counts(), marks, self.replacement_distance)
        marked = marks and not self.pipeline.target_words
        return [f"▁{new}" if marked and new != old else new for old, new in zip(tokens, found, strict=True)]
