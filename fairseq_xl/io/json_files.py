"""JSON that a command wrote, read again: whatever it holds instead becomes one sentence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fairseq_xl.io.errors import InputError


def loads(text: str) -> Any:
    """As ``json.loads``. Raises: ValueError: also for what is nested too deeply for Python."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


@contextmanager
def opened_json(path: Path, kind: str, remedy: str, missing: str = "check the name") -> Iterator[Any]:
    """What a file holds, for a block that takes it apart.

    Args:
        path: of the file, UTF-8.
        kind: what it should be, for messages: ``record of pairs``.
        remedy: what to do where it is something else: ``make it again``.
        missing: what to do where there is no such file.

    Raises:
        InputError: the file is missing, cannot be read or is no JSON; or the block raised an exception that another
            structure than it expects leads to.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"there is no {kind} {path}: {missing}") from None
    except OSError as error:
        raise InputError(f"cannot read the {kind} {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is no {kind} (it is no text in UTF-8): {remedy}") from None
    try:
        yield loads(text)
    except InputError:
        raise
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        detail = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise InputError(f"{path} is no {kind}{f' ({detail})' if detail else ''}: {remedy}") from None
