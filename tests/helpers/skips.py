"""CI fails where a test is skipped without a reason that it expects."""

from __future__ import annotations

import os
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


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """In CI, name the skips whose reason is not in expected_skips.txt; ``-ra`` lists all of them."""
    found = unexpected(terminalreporter.stats.get("skipped", []))
    if found and os.environ.get("CI"):
        terminalreporter.section("skipped without an expected reason (tests/expected_skips.txt)", red=True)
        for line in found:
            terminalreporter.line(line)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Let CI fail on them."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    done = session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    if done and reporter is not None and os.environ.get("CI") and unexpected(reporter.stats.get("skipped", [])):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
