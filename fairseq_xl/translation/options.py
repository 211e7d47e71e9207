"""The options of a translation by name: fairseq's for the search, this package's for continuous outputs."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any

from fairseq.dataclass.configs import GenerationConfig
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from fairseq_xl.continuous.decoding.task import ContinuousTranslationConfig
from fairseq_xl.continuous.models.config import DecodingConfig
from fairseq_xl.io.errors import InputError


@dataclass
class UnknownWordsConfig:
    """Beside fairseq's ``replace_unk``."""

    replace_unk_distance: float = math.inf


# Those of GenerationConfig that mean something where there is a source and nothing else.
SEARCH = (
    *("beam", "lenpen", "unkpen", "unnormalized", "temperature", "no_repeat_ngram_size"),
    *("min_len", "max_len_a", "max_len_b", "match_source_len"),
    *("sampling", "sampling_topk", "sampling_topp"),
    *("diverse_beam_groups", "diverse_beam_strength", "diversity_rate", "replace_unk"),
)
UNKNOWN_WORDS = tuple(entry.name for entry in fields(UnknownWordsConfig))
OUTPUT = tuple(entry.name for entry in fields(DecodingConfig) if entry.name != "_name")
NEAREST = ("nearest", "nearest_effort", "nearest_index")
# What each is checked by.
_CONFIGS = {
    **dict.fromkeys(SEARCH, GenerationConfig),
    **dict.fromkeys(UNKNOWN_WORDS, UnknownWordsConfig),
    **dict.fromkeys(OUTPUT, DecodingConfig),
    **dict.fromkeys(NEAREST, ContinuousTranslationConfig),
}


@dataclass(frozen=True)
class Options:
    """Checked values of what was asked for, and nothing else, by whom they are for."""

    search: dict[str, Any]
    """for fairseq's generator, and what becomes of unknown words"""
    output: dict[str, Any]
    """for a model with a continuous output"""
    nearest: dict[str, Any]
    """for the task"""


def parse(text: str) -> dict[str, str]:
    """``"lenpen=0.8 max_len_b=50"`` as names and values. Raises: InputError: a part without ``=``."""
    pairs = [part.partition("=") for part in text.split()]
    for name, sign, _ in pairs:
        if not sign or not name:
            raise InputError(f"options are given as name=value, with spaces between them, not {name!r}")
    return {name.replace("-", "_"): value for name, _, value in pairs}


def check(given: Mapping[str, Any]) -> Options:
    """Options by name; text becomes the number or truth value that the option takes.

    Raises:
        InputError: an unknown name, a value of the wrong kind, a combination that cannot work.
    """
    values = {name: _checked(name, value) for name, value in given.items()}
    if values.get("beam", 1) < 1:
        raise InputError(f"beam is {values['beam']}: give 1 or more")
    beam, groups = values.get("beam", 5), values.get("diverse_beam_groups", -1)
    if groups > 0 and beam % groups:
        raise InputError(f"diverse_beam_groups is {groups}, which does not divide the beam, {beam}")
    if "replace_unk_distance" in values and "replace_unk" not in values:
        raise InputError("replace_unk_distance says which words replace_unk may take: give that, too")
    if not values.get("replace_unk_distance", 0.0) >= 0:
        raise InputError(f"replace_unk_distance is {values['replace_unk_distance']}: give a number of words, from 0")
    kinds = [{k: v for k, v in values.items() if k in names} for names in (SEARCH + UNKNOWN_WORDS, OUTPUT, NEAREST)]
    return Options(*kinds)


def _checked(name: str, value: Any) -> Any:
    if name not in _CONFIGS:
        near = difflib.get_close_matches(name, _CONFIGS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(_CONFIGS)}"
        raise InputError(f"translating has no option {name!r}; {hint}")
    try:
        merged = OmegaConf.merge(OmegaConf.structured(_CONFIGS[name]), {name: value})
        assert isinstance(merged, DictConfig)
        value = merged[name]
    except OmegaConfBaseException as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"the option {name} cannot be {value!r}: {reason}") from None
    return value.value if isinstance(value, Enum) else value
