"""Dictionaries as dictfmt writes them for dictd: an index in base 64 beside the packed or plain text."""

from __future__ import annotations

import gzip
import string
from collections.abc import Iterable
from pathlib import Path

DIGITS = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"


def write_dictd(index: Path, entries: Iterable[tuple[str, str]], packed: bool = True) -> Path:
    """Write (headword, entry) pairs to ``index`` and the dictionary beside it."""
    text, lines = b"", []
    for word, entry in entries:
        raw = entry.encode()
        lines.append(f"{word}\t{_in_base_64(len(text))}\t{_in_base_64(len(raw))}\n")
        text += raw
    index.write_text("".join(lines), encoding="utf-8")
    ending = ".dict.dz" if packed else ".dict"
    index.with_suffix(ending).write_bytes(gzip.compress(text) if packed else text)
    return index


def _in_base_64(value: int) -> str:
    digits = DIGITS[value % 64]
    while value := value // 64:
        digits = DIGITS[value % 64] + digits
    return digits
