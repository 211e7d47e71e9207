"""Steps that are done once: again only with other settings or input files, or without what they wrote.

A step's record is a JSON file with its settings, the SHA-256 of the files it read, and what it counted. It is written
when the step is complete, and removed before the step begins anew: a step that was killed is never taken for done.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from fairseq_xl.io.atomic import write_json
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import digest
from fairseq_xl.io.json_files import loads

Signature = dict[str, Any]


def run_once(
    record: Path,
    settings: Any,
    inputs: Iterable[Path],
    work: Callable[[], Mapping[str, Any]],
    *,
    outputs: Iterable[Path] = (),
    again: bool = False,
) -> tuple[dict[str, Any], bool]:
    """Do a step unless its record says that it is done.

    Args:
        record: the step's file.
        settings: a dataclass, or anything that JSON can hold.
        inputs: files and folders that the step reads. Their bytes and their order count, not where they are.
        work: does the step and returns what it counted, which JSON can hold.
        outputs: files and folders that the step leaves behind; without one of them it is done again.
        again: do it whatever the record says.

    Returns:
        what was counted, now or before; whether it was done before.

    Raises:
        InputError: an input that is missing, or whatever ``work`` finds wrong.
    """
    wanted = signature(settings, inputs)
    if not again and is_done(record, wanted, outputs):
        return read_counts(record), True
    record.unlink(missing_ok=True)
    counts = dict(work())
    write_json(record, {"counts": counts, **wanted}, ensure_ascii=False, indent=1)
    return counts, False


def signature(settings: Any, inputs: Iterable[Path]) -> Signature:
    """What a step is told apart by. Raises: InputError: an input that is missing."""
    if dataclasses.is_dataclass(settings) and not isinstance(settings, type):
        settings = dataclasses.asdict(settings)
    found = {"settings": settings, "inputs": [[path.name, checksum(path)] for path in inputs]}
    same: Signature = json.loads(json.dumps(found, default=str))  # as the record gives it back: no tuples, no paths
    return same


def is_done(record: Path, wanted: Signature, outputs: Iterable[Path] = ()) -> bool:
    """Whether a record is that of a complete step with this signature, and what it wrote is there."""
    known = _read(record)
    return all(known.get(name) == value for name, value in wanted.items()) and all(path.exists() for path in outputs)


def read_counts(record: Path) -> dict[str, Any]:
    """What a complete step counted; nothing where there is no record."""
    counts: dict[str, Any] = _read(record).get("counts", {})
    return counts


def _read(record: Path) -> dict[str, Any]:
    """A record; an empty one where there is none, or something else."""
    try:
        found = loads(record.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def checksum(path: Path) -> str:
    """SHA-256 of a file's bytes, or of the names and bytes of a folder's files.

    Raises:
        InputError: neither is there.
    """
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        names = [f"{file.relative_to(path).as_posix()} {checksum(file)}\n" for file in files]
        return hashlib.sha256("".join(names).encode()).hexdigest()
    try:
        return digest(path)
    except FileNotFoundError:
        raise InputError(f"{path} is missing: run the step before this one") from None
