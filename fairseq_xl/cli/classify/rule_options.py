"""The options by which references decide, shared by the steps that classify."""

from __future__ import annotations

import argparse

from fairseq_xl.io.errors import InputError
from fairseq_xl.siamese.data.checks import check_least, check_seed
from fairseq_xl.siamese.models.contrastive import RULES
from fairseq_xl.siamese.prediction.classifier import Rule


def add_rule(parser: argparse.ArgumentParser) -> None:
    """Add them."""
    group = parser.add_argument_group("references")
    group.add_argument(
        "--rule",
        choices=RULES,
        help="matches: most references with a cosine above "
        "the threshold (the paper's); mean: highest mean cosine; knn: most of the nearest; "
        "centroid: nearest class mean (default: the --rule of the training, which its validation used)",
    )
    group.add_argument(
        "--threshold",
        type=float,
        metavar="X",
        help="of a match, a cosine; usually the margin (default: the training's --match-threshold)",
    )
    group.add_argument("--neighbours", type=int, default=15, metavar="K", help="of knn (default: 15)")
    group.add_argument(
        "--references",
        type=int,
        metavar="N",
        help="of each class in a draw; the paper has 100 (default: the training's --references)",
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
        help="language of the references (default: the training's --reference-side)",
    )
    group.add_argument("--reference-seed", type=int, default=1, metavar="N", help="of the draws (default: 1)")


def chosen_rule(args: argparse.Namespace) -> Rule:
    """Raises: InputError: a number that makes no sense."""
    for name in ("neighbours", "references", "draws"):
        if getattr(args, name) is not None:
            check_least(f"--{name}", getattr(args, name), 1)
    check_seed("--reference-seed", args.reference_seed)
    if args.threshold is not None and not -1 <= args.threshold <= 1:
        raise InputError(f"--threshold is a cosine from -1 to 1, not {args.threshold}")
    return Rule(
        args.rule,
        args.threshold,
        args.neighbours,
        args.references,
        args.draws,
        args.reference_side,
        args.reference_seed,
    )
