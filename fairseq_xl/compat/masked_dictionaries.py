"""Dictionaries with a mask, which their tasks cannot load."""

from __future__ import annotations

from typing import Any


def load_masked_dictionaries() -> None:
    """Let masked language models' tasks load their dictionaries.

    Broken: ``Dictionary.load`` makes its class with an argument that ``MaskedLMDictionary`` and ``BertDictionary`` do
    not take, so that ``legacy_masked_lm``, ``cross_lingual_lm`` and ``translation_from_pretrained_xlm`` end in a
    TypeError.
    """
    from fairseq.data.legacy.masked_lm_dictionary import MaskedLMDictionary

    if "load" in vars(MaskedLMDictionary):
        return

    def load(cls: Any, f: Any, add_special_symbols: bool = True) -> Any:
        if not add_special_symbols:
            raise ValueError(f"a {cls.__name__} has special symbols always")
        made = cls()
        made.add_from_file(f)
        return made

    MaskedLMDictionary.load = classmethod(load)
