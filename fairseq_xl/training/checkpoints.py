"""Checkpoint files: read without running what is in them, written wholly or not at all."""

from __future__ import annotations

import argparse
import contextlib
import os
import pickle
import pickletools
import zipfile
from typing import Any, BinaryIO

import numpy as np
import torch

from fairseq_xl.io.errors import InputError

# What torch's own pickles name beside its types.
_HARMLESS = {"collections.OrderedDict", "_codecs.encode"}
# The names by which numpy 1 pickled what numpy 2 keeps in `numpy._core`.
_NUMPY_HOMES = ("numpy.core.multiarray", "numpy._core.multiarray")


def trust_plain_types() -> None:
    """Let ``torch.load(weights_only=True)`` read what fairseq itself writes into checkpoints.

    Broken: torch >= 2.6 unpickles tensors and plain containers only, while fairseq writes an
    ``argparse.Namespace`` (models without a dataclass config, such as the stock ``lstm``) and
    numpy numbers (metrics of ``--eval-bleu``). None of the types registered here can run code when
    unpickled.
    """
    numpy_dtypes = [
        kind
        for name, kind in vars(np.dtypes).items()
        if name.endswith("DType") and name not in {"ObjectDType", "VoidDType"}
    ]
    core = getattr(np, "core" if np.__version__.startswith("1.") else "_core")
    rebuilders: list[Any] = []
    for home in _NUMPY_HOMES:
        rebuilders.append((core.multiarray._reconstruct, f"{home}._reconstruct"))
        rebuilders.append((core.multiarray.scalar, f"{home}.scalar"))
    torch.serialization.add_safe_globals([argparse.Namespace, np.ndarray, np.dtype, *numpy_dtypes, *rebuilders])


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """A checkpoint of fairseq as it lies on the disk; its tensors are read when they are used.

    Raises:
        InputError: it is missing, torn, foreign, or would run code.
    """
    trust_plain_types()
    reason = why_unusable(path)
    if reason is not None:
        raise InputError(f"the checkpoint {path} {reason}")
    return _load(path)


def why_unusable(path: str | os.PathLike[str]) -> str | None:
    """What keeps fairseq from using a checkpoint, to follow its name in a sentence.

    Nothing in the file is run. ``None``: it is a checkpoint of fairseq that can be read.
    """
    if not os.path.isfile(path):
        return "is not a file" if os.path.exists(path) else "does not exist"
    if os.path.getsize(path) == 0:
        return "is empty: its writing was interrupted; use another one"
    try:
        state = _load(path)
    except pickle.UnpicklingError:
        return _why_not_unpickled(path)
    except Exception:  # torch's reader raises half a dozen kinds for broken files
        return "is torn or is no checkpoint at all; use another one"
    if not isinstance(state, dict) or "model" not in state:
        return "holds no model of fairseq (no entry `model`); give a checkpoint that fairseq-train wrote"
    if state.get("cfg") is None and state.get("args") is None:
        return (
            "does not say how its model was configured (no entry `cfg` or `args`); "
            "give a checkpoint that fairseq-train wrote"
        )
    return None


def is_intact(path: str | os.PathLike[str]) -> bool:
    """Whether a checkpoint is as it was written, by its checksums, and fairseq can use it."""
    if _is_zip(path):
        try:
            with zipfile.ZipFile(path) as archive:
                if archive.testzip() is not None:
                    return False
        except (zipfile.BadZipFile, EOFError, OSError, ValueError):
            return False
    return why_unusable(path) is None


def updates(state: dict[str, Any]) -> int:
    """How many updates the model of a checkpoint has seen."""
    history = state.get("optimizer_history") or [{}]
    return int(history[-1].get("num_updates", 0))


def plain(value: Any) -> Any:
    """A configuration in a checkpoint as plain data: no namespaces or enumerations."""
    if isinstance(value, argparse.Namespace):
        value = vars(value)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def _load(path: str | os.PathLike[str]) -> Any:
    return torch.load(path, map_location="cpu", weights_only=True, mmap=_is_zip(path))


def _is_zip(path: str | os.PathLike[str]) -> bool:
    """torch's format since 1.6; older files are bare pickles and cannot be memory-mapped."""
    return zipfile.is_zipfile(path)


def _why_not_unpickled(path: str | os.PathLike[str]) -> str:
    names = _unsafe_globals(path)
    if not names:
        return "is torn or is no checkpoint at all; use another one"
    wanted = ", ".join(f"`{name}`" for name in names)
    return (
        f"was refused and nothing in it was run: it asks to load {wanted}, which may run code and "
        "which no checkpoint of fairseq needs; do not use this file unless you know who made it"
    )


def _unsafe_globals(path: str | os.PathLike[str]) -> list[str]:
    """The things that a pickle names and torch does not trust, found without loading it."""
    if _is_zip(path):
        try:
            return sorted(torch.serialization.get_unsafe_globals_in_checkpoint(path))
        except Exception:  # as above, for a pickle that is broken
            return []
    trusted = {f"{kind.__module__}.{kind.__qualname__}" for kind in _trusted_types()}
    with open(path, "rb") as file:
        return sorted(name for name in _pickled_globals(file) if name not in trusted)


def _trusted_types() -> list[Any]:
    return [entry[0] if isinstance(entry, tuple) else entry for entry in torch.serialization.get_safe_globals()]


def _pickled_globals(file: BinaryIO) -> set[str]:
    """The globals that the pickles at the beginning of a file name; none if the first is no pickle.

    torch's old format is five pickles in a row followed by raw numbers.
    """
    names: set[str] = set()
    with contextlib.suppress(ValueError):  # what follows the last pickle is not one
        for _ in range(5):
            strings: list[str] = []
            found: set[str] = set()
            for operation, argument, _ in pickletools.genops(file):
                if operation.name == "GLOBAL" and isinstance(argument, str):
                    found.add(argument.replace(" ", "."))
                elif operation.name == "STACK_GLOBAL":
                    found.add(".".join(strings[-2:]))
                elif isinstance(argument, str):
                    strings.append(argument)
            names |= found  # only of a pickle that is whole
    return {name for name in names if not name.startswith("torch.") and name not in _HARMLESS}
