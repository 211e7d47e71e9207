"""Which skips of a run have a reason that CI does not expect."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

LIST = Path(__file__).resolve().parents[1] / "expected_skips.txt"


def expected() -> tuple[str, ...]:
    """The beginnings of the reasons on the list."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    return tuple(line for line in lines if line and not line.startswith("#"))


def unexpected(reports: Iterable[pytest.TestReport | pytest.CollectReport]) -> list[str]:
    """``FILE:LINE: REASON`` of the skips whose reason is not on the list."""
    found = []
    for report in reports:
        path, line, reason = report.longrepr
        reason = reason.removeprefix("Skipped: ")
        if not reason.startswith(expected()):
            found.append(f"{path}:{line}: {reason}")
    return found
