"""Names and methods that fairseq's data sets and dictionaries use and that are missing."""

from __future__ import annotations

import importlib
import types
from typing import Any

import numpy as np

from fairseq_xl.compat.patching import Stock, replace

_USERS = ("fairseq.data.language_pair_dataset", "fairseq.data.token_block_dataset")


class _NumpyWithCompat(types.ModuleType):
    """numpy with ``compat.long`` for the modules that ask for it; numpy itself stays as it is."""

    compat = types.SimpleNamespace(long=int)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


def supply_numpy_compat() -> None:
    """Let the two data sets that say ``np.compat.long`` find it.

    Broken: numpy 2 has no ``np.compat``, so ``--num-batch-buckets`` and language-model blocks of one sentence end in
    an AttributeError. In numpy 1 the name meant ``int``.
    """
    if hasattr(np, "compat"):
        return
    for name in _USERS:
        module = importlib.import_module(name)
        if module.np is np:
            vars(module)["np"] = _NumpyWithCompat("numpy")


def supply_bucket_bounds() -> None:
    """Compute the bounds of ``--num-batch-buckets`` by today's name of the same percentile.

    Broken: numpy 2.4 dropped the keyword ``interpolation``, which had become ``method``.
    """
    from fairseq.data import bucket_pad_length_dataset, data_utils
    from fairseq.data.audio import raw_audio_dataset

    @replace(data_utils, "get_buckets")
    def get_buckets(stock: Stock, sizes: np.ndarray, num_buckets: int) -> np.ndarray:
        shares = np.linspace(0, 100, num_buckets + 1)
        return np.unique(np.percentile(sizes, shares, method="lower")[1:])

    for module in (bucket_pad_length_dataset, raw_audio_dataset):
        module.get_buckets = data_utils.get_buckets


def load_masked_dictionaries() -> None:
    """Let masked language models' tasks load their dictionaries.

    Broken: ``Dictionary.load`` makes its class with an argument that ``MaskedLMDictionary`` and ``BertDictionary`` do
    not take. ``legacy_masked_lm``, ``cross_lingual_lm`` and ``translation_from_pretrained_xlm`` therefore end in a
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
