"""``fairseq-xl match ensemble``: one record of several."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fairseq_xl.io.errors import InputError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the step's options."""
    parser.description = (
        "Combine the records of several matchers on the same pairs. Records of one name are runs (seeds) of one "
        "matcher and are averaged first."
    )
    parser.add_argument("records", type=Path, nargs="+", help="records to combine")
    parser.add_argument("--output", "-o", type=Path, required=True, metavar="FILE", help="record to write")
    parser.add_argument(
        "--preset",
        choices=("phase1", "phase2"),
        help="of the records, take those of the paper's submission for that phase; they are known by their names",
    )
    parser.add_argument(
        "--rule",
        choices=("probability", "logit", "stack"),
        default="probability",
        help="mean of the probabilities (default), mean of the logits, or logistic regression on the logits",
    )
    parser.add_argument(
        "--stack-on",
        type=Path,
        nargs="+",
        metavar="RECORD",
        help="out-of-fold records of the same matchers (made with --fold), on which the rule, and the calibration "
        "unless --cross-fit is given, are fitted; never pairs of the records that are combined",
    )
    parser.add_argument(
        "--calibrate",
        choices=("temperature", "platt"),
        help="calibrate what the rule gives: by one temperature, or by a temperature and a bias where the share of "
        "matches is another than in training",
    )
    parser.add_argument(
        "--cross-fit",
        type=int,
        metavar="N",
        help="fit in N folds of the combined pairs themselves: each pair is scored by what was fitted on pairs that "
        "share no sentence with it",
    )
    parser.add_argument("--seed", type=int, default=1, help="of the folds of --cross-fit (default: 1)")
    parser.add_argument(
        "--name", help="of the ensemble in tables (default: the preset or “ensemble”, the rule, the calibration)"
    )


def run(args: argparse.Namespace) -> None:
    """Combine and write.

    Raises:
        InputError: records that cannot be read or combined, or settings that leave nothing to fit on.
    """
    import numpy as np

    from fairseq_xl.pairs.evaluation.record import PairRecord, together
    from fairseq_xl.pairs.evaluation.scores import log_losses
    from fairseq_xl.pairs.prediction.ensemble import PRESETS, combine, out_of_fold

    fits = args.rule == "stack" or args.calibrate
    if fits and not (args.stack_on or args.cross_fit):
        raise InputError(
            "stacking and calibrating are fitted on other pairs than are reported: give --stack-on or --cross-fit"
        )
    if not fits and (args.stack_on or args.cross_fit):
        raise InputError("a mean has nothing to fit: leave --stack-on and --cross-fit out, or add --calibrate")
    if args.stack_on and args.cross_fit and not args.calibrate:
        raise InputError("--cross-fit beside --stack-on is for the calibration: add --calibrate")
    records = [PairRecord.read(path) for path in args.records]
    if args.preset:
        names = PRESETS[args.preset]
        missing = [name for name in names if name not in {record.name for record in records}]
        if missing:
            raise InputError(f"--preset {args.preset} lacks records of {', '.join(missing)}: predict with them too")
        records = [record for record in records if record.name in names]
    found = together(records)
    matrix = np.stack([runs.mean(0) for runs in found.runs.values()], axis=1)
    outside = None
    if args.stack_on:
        outside = out_of_fold([PairRecord.read(path) for path in args.stack_on], list(found.runs))
        shared = set(outside.ids) & set(found.ids)
        if shared:
            raise InputError(
                f"{len(shared)} of the pairs of --stack-on are to be combined too, the first {min(shared)}: stack on "
                "out-of-fold records of the train part"
            )
    labels = found.labels if args.cross_fit else found.gold
    probability = combine(matrix, args.rule, args.calibrate, outside, labels, found.group, args.cross_fit, args.seed)
    seconds = [record.about.get("training_seconds") for record in records]
    usual = [args.preset or "ensemble", args.rule, *([args.calibrate] if args.calibrate else [])]
    record = PairRecord(
        name=args.name or ", ".join(usual),
        part=records[0].part,
        seed=args.seed,
        ids=found.ids,
        gold=None if found.gold is None else found.gold.tolist(),
        probability=probability.tolist(),
        group=found.group.tolist(),
        about={
            "combined": {name: [run.seed for run in runs] for name, runs in found.records.items()},
            "rule": args.rule,
            "calibrated": args.calibrate,
            "fitted_on_pairs": len(outside.ids) if outside else None,
            "folds": args.cross_fit,
            "training_seconds": None if None in seconds else sum(seconds),
        },
    )
    record.write(args.output)
    if record.gold is not None:
        print(f"{record.name}: log loss {log_losses(record.gold, probability).mean():.4f}", file=sys.stderr)
