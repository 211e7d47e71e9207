"""The options of a translation: one object for the command line, model folders and :class:`Translator`.

An option that is None was not asked for. It has its value in the model's folder, or else fairseq's or the checkpoint's
default. Every ``--help`` imports this module, so torch and fairseq stay out of it.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

from fairseq_xl.io import settings
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import option

SCORES = ("cosine", "vmf_posterior", "vmf_density")
NEAREST = ("dense", "top", "flat", "hnsw", "ivf")
_SAYS_HOW = {
    "lexicon": "replace_unk",
    "replace_unk_distance": "replace_unk",
    "read_unknown_cosine": "read_unknown",
    "diverse_beam_strength": "diverse_beam_groups",
}
"""Options that have no effect without another."""
_OF_AN_INDEX = {"nearest_effort": ("hnsw", "ivf"), "nearest_index": ("flat", "hnsw", "ivf")}
"""Options that have no effect without one of these values of ``nearest``."""
_EXCLUSIVE = (
    ("sampling_topk", "sampling_topp"),
    ("unnormalized", "lenpen"),
    ("match_source_len", "max_len_a"),
    ("match_source_len", "max_len_b"),
)
"""Options of which fairseq reads one alone."""


@dataclass(kw_only=True)
class Search:
    """Options of fairseq's generator, under its names: those that mean something where there is a source."""

    beam: int | None = option(
        "hypotheses that are followed: more are slower, and better up to a point", None, low=1, high=1000
    )
    # The score is divided by the length to this power, which float32 must hold.
    lenpen: float | None = option("below 1 for shorter translations, above for longer ones", None, low=-10, high=10)
    unkpen: float | None = option("penalty of unknown words: raise it for fewer of them", None, low=-1e4, high=1e4)
    unnormalized: bool | None = option("compare hypotheses by their sums of scores, whatever their lengths", None)
    temperature: float | None = option(
        "divides scores before they become probabilities: above 1 for flatter ones", None, low=1e-3, high=1e3
    )
    no_repeat_ngram_size: int | None = option("no n-gram of this size comes twice in a translation", None, low=0)
    min_len: int | None = option("fewest tokens of a translation", None, low=0)
    max_len_a: float | None = option(
        "a translation has at most A times its source's tokens and B", None, low=0, high=1e6, metavar="A"
    )
    max_len_b: int | None = option("see --max-len-a", None, low=0, metavar="B")
    match_source_len: bool | None = option("a translation has as many tokens as its source", None)
    sampling: bool | None = option("draw words by their probabilities instead of searching", None)
    sampling_topk: int | None = option(
        "with --sampling, draw from the K most probable words alone", None, low=1, metavar="K"
    )
    sampling_topp: float | None = option(
        "with --sampling, draw from the most probable words that together have the probability P",
        None,
        low=1e-6,
        high=1,
        metavar="P",
    )
    diverse_beam_groups: int | None = option("groups of a diverse beam search", None, low=1)
    diverse_beam_strength: float | None = option(
        "strength with which groups avoid the words of those before", None, low=0, high=1e4
    )
    diversity_rate: float | None = option(
        "penalty of a hypothesis for those of the same origin before it", None, low=0, high=1e4
    )


@dataclass(kw_only=True)
class UnknownWords:
    """What becomes of ``<unk>`` in a translation."""

    replace_unk: bool | None = option(
        "an unknown word becomes the source word it attends to. Punctuation is passed over", None
    )
    lexicon: Path | None = option(
        "with --replace-unk, it becomes what this file of `fairseq-xl data lexicon` says of that source word", None
    )
    replace_unk_distance: float | None = option(
        "with --replace-unk, pass over source words that are more than N words away from the unknown one's place. "
        "That place assumes the same word order in both languages. Lower it where attention strays",
        None,
        low=0,
        metavar="N",
    )


@dataclass(kw_only=True)
class ReadUnknown:
    """How source words that the model does not know are read."""

    read_unknown: Path | None = option(
        "read a source word that the model does not know as the nearest known one, by the vectors of this .bin. Make "
        "it by `fairseq-xl vectors train --max-subword` on source text. The recipes leave vectors/source.LANG.bin",
        None,
        metavar="FILE",
    )
    read_unknown_cosine: float | None = option(
        "with --read-unknown, how near the known word must be. A higher value replaces fewer words",
        None,
        low=-1,
        high=1,
        shown="0.6",
        metavar="C",
    )


@dataclass(kw_only=True)
class VectorScores:
    """How a continuous output's vectors score words."""

    decode_score: str | None = option("the cosine, von Mises-Fisher's posterior or its density", None, choices=SCORES)
    decode_scale: float | None = option(
        "sharpness of --decode-score cosine: a beam depends on it", None, low=0, high=1e4
    )
    decode_csls_weight: float | None = option(
        "weight of the penalty for words that are near to too many predictions (CSLS)", None, low=-1e4, high=1e4
    )
    decode_prior_weight: float | None = option(
        "how much a word's frequency in the dictionary counts", None, low=-1e4, high=1e4
    )


@dataclass(kw_only=True)
class NearestWords:
    """How words near a continuous output's vector are found."""

    nearest: str | None = option(
        "dense scores every word. top gives the same by beam search in bounded memory. The others ask a faiss index",
        None,
        choices=NEAREST,
    )
    nearest_effort: float | None = option(
        "how much hnsw and ivf search: above 1 for recall, below for speed", None, low=1e-3, high=1e3
    )
    nearest_index: Path | None = option("folder where built indices are kept for the next run", None)


@dataclass(kw_only=True)
class Decoding(NearestWords, VectorScores, UnknownWords, ReadUnknown, Search):
    """All of them."""

    def given(self, kind: type | None = None) -> dict[str, Any]:
        """What was asked for by name, of one ``kind`` of option or of all."""
        values = {each.name: getattr(self, each.name) for each in fields(kind or Decoding)}
        return {name: value for name, value in values.items() if value is not None}


def decoding(given: Mapping[str, Any], defaults: Mapping[str, Any] | None = None) -> Decoding:
    """Checked options from names and values.

    Args:
        given: by the user, such as a function's keywords.
        defaults: those of a model folder. One that excludes what is given is left out.

    Raises:
        InputError: an unknown name, a value of the wrong kind, a combination that cannot work or has no effect.
    """
    asked = {name for name, value in given.items() if value is not None and value is not False}
    values = {**(defaults or {}), **given}
    for pair in _EXCLUSIVE:
        if asked.issuperset(pair):
            raise InputError(f"{pair[0]} and {pair[1]} exclude each other: leave one out")
        for one, other in (pair, pair[::-1]):
            if one in asked and other not in given:
                values.pop(other, None)
    _check_kinds(values)
    made = Decoding(**values)
    settings.check(made, prefix="")
    _check_together(made, asked)
    return made


def _check_kinds(values: Mapping[str, Any]) -> None:
    kinds = get_type_hints(Decoding)
    for name, value in values.items():
        if name not in kinds:
            near = difflib.get_close_matches(name, kinds, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(kinds)}"
            raise InputError(f"translating has no option {name!r}; {hint}")
        if value is not None:
            settings.check_kind(f"the option {name}", value, get_args(kinds[name])[0])


def _check_together(made: Decoding, asked: set[str]) -> None:
    groups, beam = made.diverse_beam_groups or 0, made.beam or 5
    if groups > 0 and beam % groups:
        raise InputError(f"diverse_beam_groups is {groups}, which does not divide the beam, {beam}")
    for name in asked.intersection(_SAYS_HOW):
        if not getattr(made, _SAYS_HOW[name]):
            raise InputError(f"{name} says what {_SAYS_HOW[name]} does: give that, too")
    if "decode_scale" in asked and made.decode_score not in (None, "cosine"):
        raise InputError(f"decode_scale has no effect with decode_score {made.decode_score}: leave it out")
    for name in asked.intersection(_OF_AN_INDEX):
        if made.nearest not in _OF_AN_INDEX[name]:
            readers = " or ".join(_OF_AN_INDEX[name])
            raise InputError(f"{name} says what nearest does if it is {readers}: give that, too")
