"""Commands with steps of their own: a table, of which only the chosen step's module is imported."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Mapping
from typing import Any


def add_steps(parser: argparse.ArgumentParser, table: Mapping[str, tuple[str, str]]) -> None:
    """Offer the steps of a table: name -> (module with ``configure(parser)`` and ``run(args)``, a line of help)."""
    steps = parser.add_subparsers(title="steps", metavar="STEP", required=True, parser_class=_Step)
    for name, (module, text) in table.items():
        steps.add_parser(name, help=text, description=text, module=module)


def run_step(args: argparse.Namespace) -> int | None:
    """Run the step that was chosen."""
    return args.run_step(args)


class _Step(argparse.ArgumentParser):
    """A step's parser, which imports its module when it is asked to parse.

    argparse makes the parsers of a step's own steps of the same class: they have no module.
    """

    def __init__(self, *args: Any, module: str | None = None, **options: Any):
        super().__init__(*args, **options)
        self.module = module

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        if self.module is None:
            return super().parse_known_args(args, namespace)
        step = importlib.import_module(self.module)
        step.configure(self)
        found, rest = super().parse_known_args(args, namespace)
        found.run_step = step.run
        return found, rest
