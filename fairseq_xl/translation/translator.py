"""``Translator``: raw text in, raw text out, with a folder that ``fairseq-xl translate pack`` or a recipe made.

    from fairseq_xl import Translator
    translator = Translator.load("OUT/runs/NAME/model", beam=5)
    translator.translate(["Ein Hund rennt.", "Zwei Kinder spielen."])

``fairseq-xl translate text`` does the same with files and pipes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairseq import checkpoint_utils, utils
from fairseq.data import Dictionary
from fairseq.dataclass.configs import GenerationConfig
from omegaconf import OmegaConf
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from fairseq_xl.continuous.decoding.task import ContinuousTranslationConfig, ContinuousTranslationTask
from fairseq_xl.io.errors import InputError
from fairseq_xl.text.lexicons.lexicon import read_translations
from fairseq_xl.text.pipeline import Pipeline
from fairseq_xl.text.unknown_words import Counts, replace_unknown
from fairseq_xl.training import checkpoints
from fairseq_xl.training.batches import batches
from fairseq_xl.training.device import usable
from fairseq_xl.translation.folder import ModelFolder, dictionary_name, read_config
from fairseq_xl.translation.options import Decoding, NearestWords, Search, VectorScores, decoding

# What a model began with: files outside the folder, which its weights have made needless.
_NO_FILES = dict.fromkeys(
    ("encoder_embed_path", "decoder_embed_path", "embed_path", "encoder_from", "target_vectors", "swap_vectors")
)


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
    """for each of ``tokens`` the place in ``source`` it attends to most; None for a model without attention"""
    cut: int = 0
    """how many tokens at the end of the source did not fit into the model"""


class Translator:
    """A model with its text steps.

    The result does not depend on which sentences are given together, up to the rounding of sums.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        task: ContinuousTranslationTask,
        models: list[Any],
        options: Decoding,
        device: torch.device,
        batch_tokens: int = 2000,
    ) -> None:
        """As :meth:`load` does it, which has given the task and the models their part of the options."""
        if batch_tokens < 1:
            raise InputError(f"batches of {batch_tokens} tokens hold nothing: give 1 or more")
        self.pipeline = pipeline
        self.task = task
        self.device = device
        self.batch_tokens = batch_tokens
        self.models = [model.to(device) for model in models]
        self.replacements: dict[str, str] | None = None
        """unknown words become the source's, or what this says of those; None: they stay ``<unk>``"""
        if options.replace_unk:
            self.replacements = read_translations(Path(options.lexicon)) if options.lexicon else {}
        distance = options.replace_unk_distance
        self.replacement_distance = math.inf if distance is None else distance
        """how many words from the diagonal the source word may stand"""
        self.generator = _generator(task, self.models, options.given(Search))
        positions = [model.max_positions() for model in models]
        self.longest = int(utils.resolve_max_positions(task.max_positions(), *positions)[0])
        """positions of the source side, of which the end of the sentence takes one"""

    @classmethod
    def load(
        cls, folder: str | Path, device: str | torch.device | None = None, batch_tokens: int = 2000, **options: Any
    ) -> Translator:
        """Load a model folder.

        Args:
            folder: see :mod:`fairseq_xl.translation.folder`.
            device: such as ``cpu`` or ``cuda:1``; by default a GPU where there is one.
            batch_tokens: source tokens translated at once, padding included.
            options: those of :class:`~fairseq_xl.translation.options.Decoding` (``beam=5``, ``lenpen=0.8``,
                ``decode_score="cosine"``, ``nearest="top"``, …). They go before the folder's own.

        Raises:
            InputError: no model folder, or a damaged one; checkpoints that do not fit its dictionaries; an
                option or device that cannot be used.
        """
        folder = Path(folder)
        config = read_config(folder)
        chosen = decoding({**config.options, **options})
        task = _task(folder, config, chosen.given(NearestWords))
        models = _models(folder, config, task, chosen.given(VectorScores))
        return cls(config.pipeline(folder), task, models, chosen, usable(device), batch_tokens)

    def translate(self, sentences: Sequence[str]) -> list[str]:
        """The best translation of each sentence; nothing for one without words."""
        return [found[0].text for found in self.candidates(sentences)]

    def candidates(
        self, sentences: Sequence[str], n_best: int = 1, progress: Callable[[int], object] | None = None
    ) -> list[list[Translation]]:
        """The best translations of each sentence, best first.

        A sentence without words has one, without words. Of a sentence that is too long for the model the
        beginning is translated; ``cut`` tells.

        Args:
            sentences: raw text, one sentence each.
            n_best: how many of each, at most the beam.
            progress: called with the number of sentences each time some are done.

        Raises:
            InputError: more than the beam holds.
        """
        if isinstance(sentences, str):
            raise TypeError("give a list of sentences, not one string")
        if not 1 <= n_best <= self.generator.beam_size:
            raise InputError(
                f"{n_best} translations of each sentence cannot be had from a beam of "
                f"{self.generator.beam_size}: give from 1 to {self.generator.beam_size}, or a larger beam"
            )
        sources = [self.pipeline.tokens(sentence) for sentence in sentences]
        nothing = Translation("", 0.0, [], [], [])
        results = [[nothing] for _ in sources]
        filled = [place for place, source in enumerate(sources) if source]
        if progress is not None:
            progress(len(sources) - len(filled))
        lengths = [min(len(sources[place]) + 1, self.longest) for place in filled]
        for batch in batches(lengths, self.batch_tokens):
            places = [filled[i] for i in batch]
            kept = [sources[place][: self.longest - 1] for place in places]
            for place, source, found in zip(places, kept, self._search(kept), strict=True):
                cut = len(sources[place]) - len(source)
                results[place] = [self._read(one, source, cut) for one in found[:n_best]]
            if progress is not None:
                progress(len(places))
        return results

    def _search(self, sources: list[list[str]]) -> list[list[dict[str, Tensor]]]:
        """fairseq's hypotheses of some sentences, which come longest first."""
        rows = [self._indices(source) for source in sources]
        # Padded at the end, where every model keeps the order of the words in its attention.
        padded = pad_sequence(rows, True, self.task.source_dictionary.pad()).to(self.device)
        lengths = torch.tensor([len(row) for row in rows], device=self.device)
        sample = {"net_input": {"src_tokens": padded, "src_lengths": lengths}}
        return self.task.inference_step(self.generator, self.models, sample)

    def _indices(self, source: list[str]) -> Tensor:
        dictionary = self.task.source_dictionary
        # A special token that is spelled out in the text is a word like any other, an unknown one.
        indices = [dictionary.index(word) for word in source]
        words = [i if i >= dictionary.nspecial else dictionary.unk() for i in indices]
        return torch.tensor([*words, dictionary.eos()])

    def _read(self, found: dict[str, Tensor], source: list[str], cut: int) -> Translation:
        dictionary = self.task.target_dictionary
        indices = found["tokens"].tolist()
        unspoken = (dictionary.eos(), dictionary.bos())
        spoken = [place for place, index in enumerate(indices) if index not in unspoken]
        tokens = [dictionary[indices[place]] for place in spoken]
        alignment = None
        attention = found["attention"]  # (S, T), empty for a model that has none
        if attention.numel():
            weights = attention[: len(source), spoken].float()
            alignment = weights.argmax(0).tolist()
        if self.replacements is not None:
            if alignment is None:
                raise InputError("replace_unk: this model records no attention, so leave it out")
            tokens = self._known(tokens, weights.T.cpu().numpy(), source)
        score = float(found["score"]) / math.log(2)
        return Translation(self.pipeline.text(tokens), score, tokens, source, alignment, cut)

    def _known(self, tokens: list[str], attention: np.ndarray, source: list[str]) -> list[str]:
        """The tokens, unknown ones replaced; where words are cut into pieces, what comes in begins a word."""
        assert self.replacements is not None
        marks = "sentencepiece" if self.pipeline.pieces else None
        found = replace_unknown(
            tokens, attention, source, self.replacements, Counts(), marks, self.replacement_distance
        )
        return [f"▁{new}" if marks and new != old else new for old, new in zip(tokens, found, strict=True)]


def task_settings(path: Path, checkpoint: dict[str, Any]) -> dict[str, Any]:
    """The task that a checkpoint was trained by. Raises: InputError: one that is no translation of fairseq 0.12."""
    task = (checkpoint.get("cfg") or {}).get("task")
    if isinstance(task, dict) and task.get("_name") in ("translation", "continuous_translation"):
        return task
    name = task.get("_name") if isinstance(task, dict) else type(task).__name__
    raise InputError(
        f"{path} was not trained by --task translation of fairseq 0.12 (but by {name}), which raw text needs"
    )


def _task(folder: Path, config: ModelFolder, nearest: dict[str, Any]) -> ContinuousTranslationTask:
    """fairseq's translation, as the first checkpoint was trained by it, with this folder's dictionaries."""
    path = folder / config.checkpoints[0]
    trained = task_settings(path, checkpoints.read(path))
    known = {entry.name for entry in fields(ContinuousTranslationConfig)} - {"_name", "data"}
    settings = {name: value for name, value in trained.items() if name in known}
    index = nearest.get("nearest_index")  # never that of the training
    settings |= {"eval_bleu": False, **nearest, "nearest_index": None if index is None else str(index)}
    cfg = OmegaConf.merge(OmegaConf.structured(ContinuousTranslationConfig), settings)
    dictionaries = [
        Dictionary.load(str(folder / dictionary_name(language)))
        for language in (config.source_lang, config.target_lang)
    ]
    return ContinuousTranslationTask(cfg, *dictionaries)


def _models(folder: Path, config: ModelFolder, task: ContinuousTranslationTask, scores: dict[str, Any]) -> list[Any]:
    paths = [str(folder / name) for name in config.checkpoints]
    try:
        models, _ = checkpoint_utils.load_model_ensemble(paths, {**_NO_FILES, **scores}, task)
    except RuntimeError as error:  # torch's word for weights of other sizes
        reason = str(error).splitlines()[-1].strip()
        raise InputError(
            f"the checkpoints in {folder} do not fit its dictionaries; they were trained with others ({reason})"
        ) from error
    if scores and any(getattr(model.decoder, "targets", None) is None for model in models):
        raise InputError(f"{', '.join(scores)}: for continuous outputs; the model in {folder} has a softmax")
    return models


def _generator(task: ContinuousTranslationTask, models: list[Any], search: dict[str, Any]) -> Any:
    """Raises: InputError: options that do not go together."""
    generation = OmegaConf.structured(GenerationConfig(**search))
    # Attention is always wanted, which stock models drop unless an alignment is to be printed.
    prepared = OmegaConf.create({"generation": {**generation, "print_alignment": "hard"}})
    for model in models:
        model.prepare_for_inference_(prepared)
    try:
        generator = task.build_generator(models, generation)
    except (AssertionError, ValueError) as error:  # fairseq checks them by both
        raise InputError(str(error)) from error
    # What the shortest source, one word and its end, may become.
    longest = min(int(2 * generator.max_len_a + generator.max_len_b), generator.max_len - 1)
    if not generator.match_source_len and generator.min_len > longest:
        raise InputError(
            f"min_len is {generator.min_len}, but translations of one word may have {longest} tokens only: "
            "lower it, or raise max_len_b"
        )
    return generator
