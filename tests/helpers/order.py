"""The order of the test files: those that take longest, first. What is left then fits between two processes.

A file stays with one process, and so does a folder whose files share trained models.
"""

from __future__ import annotations

from typing import Any

import pytest

TOGETHER = ("tests/pairs/", "tests/siamese/", "tests/translation/")
"""Their session's models take up to 23 seconds, which a second process would spend once more."""

LONGEST = (
    "tests/test_docs_run.py",
    "recipes/test_multi30k.py",
    "compat/test_contract.py",
    "tests/test_benchmark.py",
    "recipes/test_quickstart.py",
    *TOGETHER,
    "tests/test_wheel.py",
    "tests/examples/",
    "recipes/test_syntactic.py",
    "recipes/test_experiments.py",
    "tests/test_import.py",
    "continuous/test_commands.py",
    "tests/test_kills.py",
    "syntactic/data/test_prepare.py",
    "continuous/test_launching.py",
    "syntactic/test_training.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files in the order of :data:`LONGEST`, then the others as they come."""

    def place(item: pytest.Item) -> int:
        path = item.path.as_posix()
        return next((n for n, name in enumerate(LONGEST) if name in path), len(LONGEST))

    items.sort(key=place)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """That of ``--dist loadfile`` with each folder of :data:`TOGETHER` as one file."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return next((folder for folder in TOGETHER if file.startswith(folder)), file)

    return Scheduling(config, log) if config.getoption("dist") == "loadfile" else None
