"""Translating with an export, by CTranslate2 and without torch and fairseq."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import utf8_name
from fairseq_xl.io.packages import require
from fairseq_xl.text.pipeline import Pipeline
from fairseq_xl.text.unknown_replacement import UNKNOWN
from fairseq_xl.translation.exported.folder import read_export, source_words
from fairseq_xl.translation.options import Decoding, NearestWords, Search, decoding
from fairseq_xl.translation.translator import Found, Translator
from fairseq_xl.vectors.dictionary import SPECIAL_TOKENS, is_filler

BEAM, MAX_LEN_B = 5, 200
"""fairseq's own defaults."""
_SEARCHED = ("beam", "lenpen", "unnormalized", "no_repeat_ngram_size", "min_len", "max_len_a", "max_len_b")
_FOLDED = ("temperature", "unkpen")


class ExportedTranslator(Translator):
    """As CTranslate2 searches, which ends and keeps hypotheses a little otherwise than fairseq over a beam."""

    def __init__(
        self,
        pipeline: Pipeline,
        model: Any,
        options: Decoding,
        positions: list[int],
        max_tokens: int = 2000,
        words: Sequence[str] = (),
    ) -> None:
        """As :meth:`open` does it: ``model`` is a ``ctranslate2.Translator``, ``words`` are its source words."""
        self.words = [word for word in words if word not in SPECIAL_TOKENS and not is_filler(word)]
        super().__init__(pipeline, options, options.beam or BEAM, positions[0], max_tokens)
        self.model = model
        self.positions = positions[1]
        """of the target side, of which the end of the sentence takes one"""
        self.max_len = (options.max_len_a or 0.0, MAX_LEN_B if options.max_len_b is None else options.max_len_b)
        self.lenpen = 0.0 if options.unnormalized else 1.0 if options.lenpen is None else options.lenpen
        self.settings = {
            "beam_size": self.beam,
            "length_penalty": self.lenpen,
            "no_repeat_ngram_size": options.no_repeat_ngram_size or 0,
            "min_decoding_length": 1 if options.min_len is None else options.min_len,
        }
        longest = self._limit(1)
        if self.settings["min_decoding_length"] > longest:
            raise InputError(
                f"min_len is {options.min_len}, but translations of one word may have {longest} tokens only: lower it, "
                "or raise max_len_b"
            )

    @classmethod
    def open(
        cls, folder: Path, device: str | None, max_tokens: int, options: Mapping[str, object]
    ) -> ExportedTranslator:
        """See :meth:`Translator.load`."""
        export = read_export(folder)
        chosen = decoding(options, export.options)
        check_search(chosen, export.folded)
        model, words = load_model(folder, device), source_words(folder)
        return cls(export.pipeline(folder), model, chosen, export.positions, max_tokens, words)

    def search(self, sources: list[list[str]], count: int) -> list[list[Found]]:
        """See :meth:`Translator.search`."""
        results = self.model.translate_batch(
            rows(sources),
            **self.settings,
            num_hypotheses=count,
            max_decoding_length=self._limit(len(sources[0])),
            max_input_length=0,
            return_scores=True,
            # Over a beam CTranslate2 (4.8) gives sentences of a batch each other's attention.
            return_attention=self.beam == 1,
        )
        return [
            [
                Found(words, score, _array(one.attention[place], words) if self.beam == 1 else None)
                for place, (words, score) in enumerate(zip(one.hypotheses, one.scores, strict=True))
            ]
            for one in results
        ]

    def attend(self, sources: list[list[str]], words: list[list[str]]) -> list[np.ndarray | None]:
        """See :meth:`Translator.attend`: a second pass, by the words alone."""
        found = self.model.translate_batch(
            rows(sources),
            target_prefix=words,
            beam_size=1,
            max_decoding_length=max(map(len, words)) + 1,
            max_input_length=0,
            return_attention=True,
        )
        return [_array(one.attention[0][: len(given)], given) for one, given in zip(found, words, strict=True)]

    def source_words(self) -> list[str]:
        """See :meth:`Translator.source_words`."""
        return self.words

    def seed(self, number: int) -> None:
        """Nothing here is random."""

    def _limit(self, words: int) -> int:
        """How many tokens the translations of a batch may have whose longest source has so many."""
        a, b = self.max_len
        return min(int(a * (words + 1) + b), self.positions - 1)


def _array(attention: list[list[float]], words: list[str]) -> np.ndarray:
    """(T, S), of T words."""
    return np.array(attention, np.float32).reshape(len(words), -1) if words else np.zeros((0, 0), np.float32)


def rows(sources: list[list[str]]) -> list[list[str]]:
    """Tokens as CTranslate2 reads them: a special token that the text spells out is an unknown word."""
    return [[UNKNOWN if word in SPECIAL_TOKENS else word for word in source] for source in sources]


def load_model(folder: Path, device: str | None = None) -> Any:
    """The ``ctranslate2.Translator`` of an export.

    Raises:
        InputError: CTranslate2 is not installed, or cannot use the device or the model.
    """
    ctranslate2 = require("ctranslate2", "ctranslate2", "translating with an export")
    kind, _, index = (device or "cpu").partition(":")
    if index and not index.isdecimal():
        raise InputError(f"the device {device!r} cannot be used: say cpu, cuda or cuda:1")
    try:
        return ctranslate2.Translator(utf8_name(folder), kind, device_index=int(index or 0))
    except (RuntimeError, ValueError) as error:
        raise InputError(f"CTranslate2 cannot use {folder} on {device or 'cpu'}: {error}") from None


def check_search(options: Decoding, folded: Mapping[str, Any]) -> None:
    """See that an export can do what is asked for.

    Args:
        options: of the search and the output.
        folded: what the output layer holds, by name.

    Raises:
        InputError: an option that CTranslate2 does not have, or that another value is folded in for.
    """
    for name, value in options.given(Search).items():
        if value and name not in (*_SEARCHED, *_FOLDED):
            raise InputError(f"{name}: an export does plain beam search: leave it out, or use the model folder")
    nearest = options.given(NearestWords)
    if nearest.get("nearest", "dense") not in ("dense", "top"):
        raise InputError(f"nearest {options.nearest}: an export scores every word: leave it out, or say dense")
    if options.decode_csls_weight:
        raise InputError("decode_csls_weight does not fold into an output layer: say 0, or use the model folder")
    for name, value in folded.items():
        asked = getattr(options, name)
        if asked is not None and asked != value:
            raise InputError(f"{name} is {value} in this export, not {asked}: export the model again to change it")
    if folded["decode_score"] == "cosine" and (options.beam or BEAM) > 1:
        raise InputError(
            f"decode_score cosine folds for greedy search alone, not for a beam of {options.beam or BEAM}: say beam 1, "
            "or export with decode_score vmf_posterior"
        )
