"""The order of the test files: those that take longest, first. What is left then fits between two processes."""

from __future__ import annotations

import pytest

LONGEST = (
    "tests/test_docs_run.py",
    "recipes/test_multi30k.py",
    "compat/test_contract.py",
    "tests/test_benchmark.py",
    "recipes/test_quickstart.py",
    "tests/test_wheel.py",
    "tests/examples/",
    "recipes/test_syntactic.py",
    "recipes/test_experiments.py",
    "tests/test_import.py",
    "continuous/test_commands.py",
    "tests/test_kills.py",
    "syntactic/data/test_prepare.py",
    "pairs/test_training.py",
    "continuous/test_launching.py",
    "syntactic/test_training.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files in the order of :data:`LONGEST`, then the others as they come."""

    def place(item: pytest.Item) -> int:
        path = item.path.as_posix()
        return next((n for n, name in enumerate(LONGEST) if name in path), len(LONGEST))

    items.sort(key=place)
