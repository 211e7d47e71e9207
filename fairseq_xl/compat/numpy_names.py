"""The one name that numpy 2 took from fairseq's text path: ``np.compat.long``."""

from __future__ import annotations

import importlib
import types
from typing import Any

import numpy as np

_USERS = ("fairseq.data.language_pair_dataset", "fairseq.data.token_block_dataset")


class _NumpyWithCompat(types.ModuleType):
    """numpy, and ``compat.long`` besides, for the modules that ask for it; numpy itself stays as
    it is."""

    compat = types.SimpleNamespace(long=int)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


def supply_numpy_compat() -> None:
    """Let the two data sets that say ``np.compat.long`` find it.

    Broken: numpy 2 has no ``np.compat``, so ``--num-batch-buckets`` and language-model blocks of
        one sentence
    end in an AttributeError. In numpy 1 the name meant ``int``.
    """
    if hasattr(np, "compat"):
        return
    for name in _USERS:
        module = importlib.import_module(name)
        if module.np is np:
            module.np = _NumpyWithCompat("numpy")
