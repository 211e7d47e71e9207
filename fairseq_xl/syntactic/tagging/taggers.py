"""Where the universal part-of-speech tags of a sentence come from: one interface, four sources; how right they are.

``load_tagger`` knows them by their names:

* a folder: a model that ``fairseq-xl embed train-tagger`` wrote, or any spaCy pipeline;
* ``spacy:NAME``: an installed spaCy package. These tag a contraction as one word (German *zum*: ADP);
* ``stanza`` or ``stanza:FOLDER``: stanza's models of the language, downloaded or in a folder. They take contractions
  apart as Universal Dependencies does (ADP DET), as our own models do;
* ``FILE.conllu``: gold tags, found by the sentence's text.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.packages import require
from fairseq_xl.syntactic.data.filters import tidy
from fairseq_xl.syntactic.tagging.labels import tags_of
from fairseq_xl.text.conllu import Sentence, read_conllu, universal

TRAIN_ONE = "train one with fairseq-xl embed train-tagger, or name one of spaCy's or stanza's"
ABOUT = "tagger.json"
"""What marks the folder of a model that predicts labels of pieces; it holds how the model was trained."""

ACCURACY = "accuracy.json"
"""Figures of a test beside the model; they do not change its tags."""

SPACELESS = frozenset({"zh", "ja", "th", "lo", "km", "my", "bo", "yue"})
"""Languages written without spaces: white space in their text means nothing, and pieces are characters."""


class Tagger(Protocol):
    """Tags raw sentences."""

    fingerprint: str
    """Changes with whatever may change the tags: part of the key under which they are cached."""

    def tag(self, sentences: Sequence[str]) -> list[list[str]]:
        """The universal tags of the words of each sentence."""


class SpacyTagger:
    """A spaCy pipeline, our own or a packaged one."""

    def __init__(self, name: str, language: str) -> None:
        import spacy

        try:
            self._nlp = spacy.load(name, exclude=["parser", "ner", "lemmatizer"])
        except (OSError, ValueError) as error:
            raise InputError(f"{name} is not a spaCy model that can be loaded ({error}): {TRAIN_ONE}") from None
        folder = Path(name)
        self._labels = (folder / ABOUT).is_file()
        self._spaceless = language in SPACELESS
        own = self._nlp.lang if self._nlp.lang != "xx" else language
        if self._labels:
            try:
                own = json.loads((folder / ABOUT).read_text(encoding="utf-8"))["language"]
            except (ValueError, KeyError, TypeError):
                raise InputError(f"{folder / ABOUT} is damaged: {TRAIN_ONE}") from None
        if own != language:
            raise InputError(f"the tagger {name} is for the language {own!r}, not {language!r}")
        if not {"tagger", "morphologizer"} & set(self._nlp.pipe_names):
            raise InputError(f"the spaCy model {name} has no tagger among its components {self._nlp.pipe_names}")
        self.fingerprint = _digest(*(_files(folder) if folder.is_dir() else [name, self._nlp.meta["version"]]))

    def tag(self, sentences: Sequence[str]) -> list[list[str]]:
        texts = ["".join(text.split()) if self._spaceless else text for text in sentences]
        docs = self._nlp.pipe(texts, batch_size=256)
        if self._labels:
            return [tags_of([token.tag_ for token in doc if not token.is_space]) for doc in docs]
        return [[universal(token.pos_, "spaCy's model") for token in doc if not token.is_space] for doc in docs]


class StanzaTagger:
    """stanza's tokeniser, expansion of contractions where the language has any, and tagger.

    Args:
        folder: stanza's models, as its own download leaves them; None to let stanza download.
    """

    def __init__(self, language: str, folder: str | None = None) -> None:
        import stanza

        offline = {} if folder is None else {"model_dir": folder, "download_method": None}
        # stanza's names of the two that have no code of two letters for the script
        name = {"zh": "zh-hans"}.get(language, language)
        try:
            self._nlp = self._pipeline(stanza, name, offline)
        except Exception as error:  # stanza's own kinds, requests' and OSError, by what is missing
            where = folder or "stanza's models"
            raise InputError(f"no stanza tagger for {language!r} in {where} ({error}): {TRAIN_ONE}") from None
        self.fingerprint = _digest("stanza", stanza.__version__, name, *(_files(Path(folder)) if folder else []))

    @staticmethod
    def _pipeline(stanza: Any, name: str, options: dict[str, Any]) -> Any:
        try:
            return stanza.Pipeline(name, processors="tokenize,mwt,pos", verbose=False, **options)
        except (stanza.pipeline.core.UnsupportedProcessorError, KeyError):
            # a language without contractions has no model for them
            return stanza.Pipeline(name, processors="tokenize,pos", verbose=False, **options)

    def tag(self, sentences: Sequence[str]) -> list[list[str]]:
        import stanza

        documents = self._nlp.bulk_process([stanza.Document([], text=text) for text in sentences])
        return [
            [universal(word.upos, "stanza's model") for sentence in document.sentences for word in sentence.words]
            for document in documents
        ]


class GoldTagger:
    """The tags of a treebank's sentences, found by their text as :func:`.filters.tidy` leaves it."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._tags: dict[str, set[tuple[str, ...]]] = {}
        for sentence in read_conllu(path):
            self._tags.setdefault(tidy(sentence.text), set()).add(sentence.upos)
        self.fingerprint = _digest(Path(path))

    def tag(self, sentences: Sequence[str]) -> list[list[str]]:
        """Raises: InputError: a sentence that the treebank has not, or has with other tags, too."""
        return [self._found(tidy(text)) for text in sentences]

    def _found(self, text: str) -> list[str]:
        if not text:
            return []
        found = sorted(self._tags.get(text, ()))
        if not found:
            raise InputError(f"{self._path} has no tags for {text!r}: add the sentence or use another tagger")
        if len(found) > 1:
            one, other = map(" ".join, found[:2])
            raise InputError(f"{self._path} tags {text!r} both {one} and {other}: remove one of the two sentences")
        return list(*found)


def load_tagger(name: str, language: str) -> Tagger:
    """The tagger that a name stands for, as the module's description lists them.

    Raises:
        InputError: there is no such tagger, it is broken, or it is another language's.
    """
    kind, _, rest = name.partition(":")
    if kind == "stanza":
        return StanzaTagger(language, rest or None)
    if name.endswith((".conllu", ".conllu.gz")):
        return GoldTagger(name)
    if kind == "spacy" and rest:
        return SpacyTagger(rest, language)
    if not Path(name).is_dir():
        raise InputError(f"there is no tagger {name} for {language!r}: {TRAIN_ONE}")
    return SpacyTagger(name, language)


def accuracy(tagger: Tagger, gold: Sequence[Sentence]) -> dict[str, float | int]:
    """How right a tagger is on the raw text of gold sentences.

    A tagger cuts words itself, so there may be more or fewer tags than in the gold. Right are those of a longest
    common subsequence of both sequences, sentence by sentence.

    Returns:
        ``upos_f1``, 200 · right / (gold + tagged): the share of right tags in per cent where both have the same number
        of words. It is the UPOS F1 of the CoNLL 2018 shared task, but with words aligned by their tags instead of
        their characters. ``whole_sentences``: those that are right as a whole, in per cent. ``sentences``,
        ``gold_words``, ``tagged_words``: their numbers.

    Raises:
        InputError: rapidfuzz is not installed.
    """
    common = require("rapidfuzz.distance", "syntactic", "the comparison of tags").LCSseq.similarity
    found = tagger.tag([sentence.text for sentence in gold])
    pairs = [(list(sentence.upos), tags) for sentence, tags in zip(gold, found, strict=True)]
    words = [sum(map(len, side)) for side in zip(*pairs, strict=True)]
    return {
        "upos_f1": round(100 * 2 * sum(common(upos, tags) for upos, tags in pairs) / sum(words), 2),
        "whole_sentences": round(100 * sum(upos == tags for upos, tags in pairs) / len(pairs), 2),
        "sentences": len(pairs),
        "gold_words": words[0],
        "tagged_words": words[1],
    }


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name != ACCURACY)


def _digest(*parts: str | Path) -> str:
    """Of words as they are, and of files by what they hold."""
    found = hashlib.blake2b(digest_size=16)
    for part in parts:
        found.update(Path(part).read_bytes() if isinstance(part, Path) else part.encode())
        found.update(b"\0")
    return found.hexdigest()
