"""``fairseq-xl siamese STEP``: a table of steps, of which only the chosen one's module is imported."""

from __future__ import annotations

import argparse
import importlib

STEPS = {
    "prepare": (
        "prepare_command",
        "labelled text of one or two languages into a folder to train on",
    ),
    "statistics": ("statistics_command", "sentences, lengths and class shares of prepared folders"),
    "predict": (
        "predict_command",
        "classes of new text, with the reference sentences nearest to it",
    ),
    "label": ("label_command", "classes for unlabelled sentence pairs, from their rich side"),
    "baseline": (
        "baseline_command",
        "train and record another classifier, the paper's or a newer one",
    ),
    "report": ("report_command", "tables, tests and figures from records of predictions"),
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the steps; a step's options are added when its name has been read."""
    steps = parser.add_subparsers(title="steps", metavar="STEP", required=True, parser_class=_Step)
    for name, (module, text) in STEPS.items():
        steps.add_parser(name, help=text, description=text, module=module)


class _Step(argparse.ArgumentParser):
    """A step's parser, which imports its module when it is asked to parse."""

    def __init__(self, *args, module: str, **kwargs):
        super().__init__(*args, **kwargs)
        self.module = module

    def parse_known_args(self, args=None, namespace=None):
        step = importlib.import_module(f"fairseq_xl.siamese.{self.module}")
        step.configure(self)
        found, rest = super().parse_known_args(args, namespace)
        found.step = step.run
        return found, rest


def run(args: argparse.Namespace) -> int | None:
    """Run the chosen step."""
    return args.step(args)
