"""Checkpoint files: read without running what is in them, and why one is refused."""

from __future__ import annotations

import argparse
import errno
import os
import pickle
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from fairseq_xl.io.errors import InputError

WORDS = "fairseq_xl_words"
"""In a checkpoint's extra state, and in the task's state that is made of it: of which dictionaries its numbers are."""
TORN = "is torn or is no checkpoint at all; use another one"
REFUSED = re.compile(r"GLOBAL ([A-Za-z_][\w.]*) (?:whose module|was not)")
"""How torch names what it does not trust."""
_NAMESPACE = "argparse.Namespace"  # the options of a stock model without a dataclass are one
# The names by which numpy 1 pickled what numpy 2 keeps in `numpy._core`.
_NUMPY_HOMES = ("numpy.core.multiarray", "numpy._core.multiarray")


def trust_plain_types() -> None:
    """Let ``torch.load(weights_only=True)`` read what fairseq itself writes into checkpoints.

    Broken: torch >= 2.6 unpickles tensors and plain containers only. For models without a dataclass config, such as the
    stock ``lstm``, fairseq writes an ``argparse.Namespace``. For metrics of ``--eval-bleu`` it writes numpy numbers.
    None of the types registered here can run code when unpickled.
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
    reason = why_file_refused(path)
    if reason is not None:
        raise InputError(f"the checkpoint {path} {reason}")
    return _load(path)


def need_file(path: Path) -> None:
    """Refuse what is no file, before anything is loaded.

    Raises:
        InputError: there is nothing, or a folder.
    """
    if path.is_dir():
        raise InputError(f"the checkpoint {path} {why_file_refused(path)}")
    if not path.is_file():
        raise InputError(f"no checkpoint at {path}")


def why_file_refused(path: str | os.PathLike[str]) -> str | None:
    """What keeps fairseq from using a checkpoint, to follow its name in a sentence.

    Nothing in the file is run. ``None``: it is a checkpoint of fairseq that can be read.

    Raises:
        InputError: the system refuses to read the file, which says nothing about what is in it.
    """
    if not os.path.isfile(path):
        if os.path.isdir(path):
            return "is a folder: give a file of fairseq-train, such as RUN/checkpoints/checkpoint_best.pt"
        return "is not a file" if os.path.exists(path) else "does not exist"
    if os.path.getsize(path) == 0:
        return "is empty: its writing was interrupted; use another one"
    try:
        with _told_from_damage(path):
            with open(path, "rb") as file:  # torch and zipfile take what they may not open for something else
                file.read(1)
            state = _load(path)
            whole = is_configured_as_written(path)
    except InputError:
        raise
    except Exception as error:  # torch's reader raises half a dozen kinds for broken files
        refused = REFUSED.search(str(error)) if isinstance(error, pickle.UnpicklingError) else None
        if refused is None:
            return TORN
        return (
            f"was refused and nothing in it was run. It asks to load `{refused[1]}`, which may run code and which no "
            "checkpoint of fairseq needs. Do not use this file unless you know who made it"
        )
    if not whole:
        return TORN
    if not isinstance(state, dict) or "model" not in state:
        return "holds no model of fairseq (no entry `model`); give a checkpoint that fairseq-train wrote"
    return why_state_refused(state)


def why_state_refused(state: dict[str, Any]) -> str | None:
    """What keeps fairseq from using what was read of a checkpoint, to follow its name; ``None``: nothing."""
    return _damage(state) or why_config_refused(state)


def _damage(state: dict[str, Any]) -> str | None:
    """What in a checkpoint has not the structure that fairseq gives it."""
    again = "give a checkpoint that fairseq-train wrote"
    weights, cfg, args = state["model"], state.get("cfg"), state.get("args")
    if not isinstance(weights, dict) or not all(map(torch.is_tensor, weights.values())):
        return f"holds no weights under `model`; {again}"
    if isinstance(cfg, dict):
        told = all(isinstance(cfg.get(name, {}), (dict, argparse.Namespace)) for name in ("model", "task"))
    else:
        told = cfg is None and isinstance(args, argparse.Namespace)
    if not told:
        return f"does not say how its model was configured (no entry `cfg` or `args`, or a damaged one); {again}"
    for name, kind in (("extra_state", dict), ("optimizer_history", list)):
        if not isinstance(state.get(name) or kind(), kind):
            return f"has a damaged entry `{name}`; {again}"
    return None


def why_config_refused(state: dict[str, Any]) -> str | None:
    """What keeps a checkpoint's configuration from being read, to follow its name; ``None``: nothing.

    omegaconf puts what the machine knows (``${oc.env:HOME}``) into a configuration that asks for it. fairseq-train
    has done so before it writes one: who asks in a checkpoint is somebody else.
    """
    asked = next((text for text in _strings([state.get("cfg"), state.get("args")]) if "${" in text), None)
    if asked is None:
        return None
    return (
        f"was refused: its configuration asks for `{asked[:100]}`, which would be read from this machine; give a "
        "checkpoint that fairseq-train wrote"
    )


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, argparse.Namespace):
        value = vars(value)
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _strings(key)
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)


def refuse_unbuildable(path: str | os.PathLike[str], state: dict[str, Any]) -> None:
    """Refuse a checkpoint whose model cannot be built, since its model or its task has no name or an unknown one.

    Args:
        path: of the checkpoint, for the sentence.
        state: what it holds.

    Raises:
        InputError: there is no name, or nothing of that name is registered with fairseq.
    """
    from fairseq.models import ARCH_MODEL_REGISTRY, MODEL_DATACLASS_REGISTRY
    from fairseq.tasks import TASK_REGISTRY

    cfg = state.get("cfg")
    sections = [] if cfg is None else [cfg.get("model"), cfg.get("task")]
    known = ARCH_MODEL_REGISTRY.keys() | MODEL_DATACLASS_REGISTRY.keys(), TASK_REGISTRY.keys()
    for what, option, names, section in zip(("model", "task"), ("--arch", "--task"), known, sections, strict=False):
        settings = section if isinstance(section, dict) else vars(section or argparse.Namespace())
        name = settings.get("_name", settings.get("arch"))
        if not isinstance(name, str):
            raise InputError(f"the checkpoint {path} names no {what}: give one that fairseq-train wrote")
        if name not in names:
            raise InputError(
                f"the checkpoint {path} was trained with {option} {name}, which is not registered: give another, or "
                "load its code by --user-dir FOLDER, fairseq_xl.register(FOLDER) or an import"
            )


def refuse_nan(path: str | os.PathLike[str], state: dict[str, Any]) -> None:
    """Refuse a model that can give nothing but NaN, before anybody relies on it.

    Args:
        path: of the checkpoint, for the sentence.
        state: what it holds.

    Raises:
        InputError: a weight is NaN or infinite.
    """
    for name, tensor in state["model"].items():
        if torch.is_tensor(tensor) and not torch.isfinite(tensor).all():
            raise InputError(
                f"the weights {name} in {path} hold NaN or infinity: its training has gone astray; take an earlier "
                "checkpoint, or train again with a lower --lr"
            )


def is_configured_as_written(path: str | os.PathLike[str]) -> bool:
    """Whether everything but the tensors is as it was written, by its checksum; true of torch's old format.

    This is little to read. Damage in there could come up wherever a setting is used.
    """
    if not _is_zip(path):
        return True
    with zipfile.ZipFile(path) as archive:
        pickled = [name for name in archive.namelist() if name.endswith("/data.pkl")]
        try:
            return len(pickled) == 1 and bool(archive.read(pickled[0]))
        except (zipfile.BadZipFile, EOFError, ValueError):
            return False


def is_intact(path: str | os.PathLike[str]) -> bool:
    """Whether a checkpoint is as it was written, by its checksums, and fairseq can use it.

    Raises:
        InputError: the system refuses to read the file.
    """
    unusable = why_file_refused(path)
    if unusable is None and _is_zip(path):
        try:
            with _told_from_damage(path), zipfile.ZipFile(path) as archive:
                return archive.testzip() is None
        except InputError:
            raise
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError):
            return False
    return unusable is None


def updates(state: Mapping[str, Any]) -> int:
    """How many updates the model of a checkpoint has seen."""
    history = state.get("optimizer_history") or [{}]
    last = history[-1] if isinstance(history, list) else None
    return int(last.get("num_updates", 0)) if isinstance(last, dict) else 0


def task_state(state: Mapping[str, Any]) -> dict[str, Any]:
    """What the task is told of a checkpoint: its own state, and of which dictionaries the numbers are."""
    words = (state.get("extra_state") or {}).get(WORDS)
    return {**(state.get("task_state") or {}), **({WORDS: words} if words else {})}


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


def json_value(value: Any) -> Any:
    """What of a configuration JSON has no word for, in its words."""
    if isinstance(value, argparse.Namespace):
        return {_NAMESPACE: vars(value)}
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return str(value)


def with_namespaces(value: Any) -> Any:
    """A configuration that was read from JSON, with the namespaces that :func:`json_value` has described."""
    if isinstance(value, list):
        return [with_namespaces(item) for item in value]
    if not isinstance(value, dict):
        return value
    found = {name: with_namespaces(item) for name, item in value.items()}
    if found.keys() == {_NAMESPACE} and isinstance(found[_NAMESPACE], dict):
        return argparse.Namespace(**found[_NAMESPACE])
    return found


@contextmanager
def _told_from_damage(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let what the system refuses (permission, a disk that fails) be a sentence: it says nothing about the bytes."""
    try:
        yield
    except OSError as error:
        if error.errno in (None, errno.EINVAL):  # a place outside the file, which a torn one may name
            raise
        raise InputError(f"cannot read the checkpoint {path}: {error.strerror}") from error


def _load(path: str | os.PathLike[str]) -> Any:
    return torch.load(path, map_location="cpu", weights_only=True, mmap=_is_zip(path))


def _is_zip(path: str | os.PathLike[str]) -> bool:
    """torch's format since 1.6; older files are bare pickles and cannot be memory-mapped."""
    return zipfile.is_zipfile(path)
