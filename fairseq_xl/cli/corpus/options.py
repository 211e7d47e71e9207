"""The options of every step of the pipeline."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from fairseq_xl.corpus.documents.project import Project

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")


def add_project(parser: argparse.ArgumentParser) -> None:
    """Add --project, --set and --again."""
    parser.add_argument("--project", type=Path, required=True, metavar="DIR", help="folder of the corpus")
    parser.add_argument(
        "--set",
        nargs="+",
        action="extend",
        default=[],
        metavar="STEP.OPTION=VALUE",
        help="settings that go before those in DIR/corpus.yaml",
    )
    parser.add_argument("--again", action="store_true", help="run even if it is done with these settings and inputs")


def run_once(
    args: argparse.Namespace,
    step: str,
    kind: type[T],
    inputs: Callable[[Project, T], Sequence[Path]],
    work: Callable[[Project, T], Mapping[str, Any]],
) -> None:
    """Do a step unless it is done, and say what it counted.

    Args:
        args: of :func:`add_project`.
        step: its name, and that of its section.
        kind: dataclass of its settings.
        inputs: the files it reads; a change in them makes it run again.
        work: does it and returns counts for the report.

    Raises:
        InputError: whatever the step finds wrong.
    """
    project = Project.open(args.project, args.set)
    settings = project.settings(step, kind)
    files = list(inputs(project, settings))
    if not args.again and project.is_done(step, settings, files):
        print(f"{step}: done before", file=sys.stderr)
        return
    report = work(project, settings)
    project.done(step, settings, files, report)
    counts = ", ".join(f"{name} {value}" for name, value in report.items() if isinstance(value, (int, float, str)))
    print(f"{step}: {counts}", file=sys.stderr)
