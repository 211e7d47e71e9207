"""The options by which references decide, shared by the steps that classify."""

from __future__ import annotations

import argparse

from fairseq_xl.errors import InputError
from fairseq_xl.siamese.classifier import Rule
from fairseq_xl.siamese.contrastive import RULES


def add_rule(parser: argparse.ArgumentParser) -> None:
    """Add them."""
    group = parser.add_argument_group("references")
    group.add_argument(
        "--rule",
        choices=RULES,
        default="matches",
        help="matches: most references with a cosine above "
        "the threshold (the paper's, default); mean: highest mean cosine; knn: most of the nearest; "
        "centroid: nearest class mean",
    )
    group.add_argument(
        "--threshold",
        type=float,
        default=0.5,
        metavar="X",
        help="of a match; usually the margin (default: 0.5)",
    )
    group.add_argument(
        "--neighbours", type=int, default=15, metavar="K", help="of knn (default: 15)"
    )
    group.add_argument(
        "--references",
        type=int,
        default=100,
        metavar="N",
        help="of each class in a draw (default: 100, the paper's)",
    )
    group.add_argument(
        "--draws",
        type=int,
        default=5,
        metavar="N",
        help="draws whose scores are averaged (default: 5); the paper has one",
    )
    group.add_argument(
        "--reference-side",
        choices=("auto", "poor", "rich"),
        default="auto",
        help="language of the references (default: the larger corpus of the training pairs)",
    )
    group.add_argument(
        "--reference-seed", type=int, default=1, metavar="N", help="of the draws (default: 1)"
    )


def chosen_rule(args: argparse.Namespace) -> Rule:
    """Raises: InputError: a number that makes no sense."""
    for name in ("neighbours", "references", "draws"):
        if getattr(args, name) < 1:
            raise InputError(f"--{name} takes a number from 1, not {getattr(args, name)}")
    return Rule(
        args.rule,
        args.threshold,
        args.neighbours,
        args.references,
        args.draws,
        args.reference_side,
        args.reference_seed,
    )
