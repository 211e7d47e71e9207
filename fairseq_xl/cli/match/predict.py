"""``fairseq-xl match predict``: probabilities of new pairs, or a record of a prepared part's."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.data.source import PairSource
from fairseq_xl.pairs.evaluation.record import PairRecord

if TYPE_CHECKING:
    import numpy as np

    from fairseq_xl.pairs.data.folder import Row
    from fairseq_xl.pairs.prediction.predictor import Predictor

STANDARD_INPUT = "/dev/stdin"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the step's options."""
    parser.description = (
        "Write the probability that each pair means the same, one a line in the order of the input; or, with --part, "
        "a record of a part of the prepared folder, for ensemble and report."
    )
    parser.add_argument("checkpoint", type=Path, help="of fairseq-train with task siamese_matching")
    parser.add_argument(
        "--input",
        default="-",
        metavar="SOURCE",
        help="pairs as `pairs prepare` takes them; their labels, if any, are not looked at (default: -, standard "
        "input, two columns)",
    )
    parser.add_argument(
        "--part",
        choices=("train", "valid", "test", "fold"),
        help="predict this part of the prepared folder; fold: the fold that was held out in training",
    )
    parser.add_argument("--output", "-o", type=Path, metavar="FILE", help="default: standard output")
    parser.add_argument("--name", help="of the matcher in the record (default: its architecture)")
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="the prepared folder, where it has moved since training"
    )
    parser.add_argument("--calibration", type=Path, metavar="FILE", help="what `fairseq-xl match calibrate` wrote")
    parser.add_argument(
        "--vectors",
        type=Path,
        metavar="FILE",
        help="the word vectors that the folder was prepared with, for words that it does not hold",
    )
    parser.add_argument("--max-tokens", type=int, default=16_000, metavar="N", help="read at once (default: 16000)")
    parser.add_argument("--device", help="such as cpu or cuda:1 (default: a GPU where there is one)")


def run(args: argparse.Namespace) -> None:
    """Predict and write.

    Raises:
        InputError: an unusable checkpoint, folder, calibration or source.
    """
    if args.max_tokens < 1:
        raise InputError(f"--max-tokens is a number from 1, not {args.max_tokens}")
    if args.part and args.output is None:
        raise InputError("--part writes a record: name its file with --output")
    if args.part and args.input != "-":
        raise InputError("give --input or --part, not both")
    pairs = languages = None
    if not args.part:
        line = STANDARD_INPUT + args.input[1:] if args.input.startswith("-") else args.input
        # A label would have to be there and be 0 or 1, which is no concern here.
        source = PairSource.parse(line + ("" if ",label=" in line else ",label=none"))
        languages = source.languages
        pairs = [(pair.left, pair.right) for pair in source.pairs()]
    import fairseq_xl

    fairseq_xl.register()
    from fairseq_xl.pairs.prediction.calibration_file import calibrated, read_calibration
    from fairseq_xl.pairs.prediction.predictor import Predictor, probability

    calibration = read_calibration(args.calibration) if args.calibration else None
    predictor = Predictor.load(args.checkpoint, args.data, args.device)
    if pairs is None:
        task = predictor.task
        # A part is the folder's, whole, whatever the model was trained without: the folder may be another one.
        rows = task.rows("valid") if args.part == "fold" else task.prepared.rows(args.part)
    else:
        rows = predictor.rows(pairs, languages)
    if args.vectors:
        count = predictor.learn_words(rows, args.vectors)
        print(f"{count} words that the prepared folder lacks have a vector", file=sys.stderr)
    began = time.perf_counter()
    logits = predictor.logits(rows, args.max_tokens)
    seconds = time.perf_counter() - began
    found = probability(logits) if calibration is None else calibrated(logits, calibration)
    if args.part:
        record(args, predictor, rows, found, seconds).write(args.output)
        return
    text = "".join(f"{p:.6f}\n" for p in found)
    if args.output:
        with atomic_text(args.output) as stream:
            stream.write(text)
    else:
        sys.stdout.write(text)


def record(
    args: argparse.Namespace, predictor: Predictor, rows: Sequence[Row], found: np.ndarray, seconds: float
) -> PairRecord:
    """What is known of a part's pairs."""
    from fairseq_xl.report.record import versions
    from fairseq_xl.training.checkpoints import read

    state = read(args.checkpoint)
    cfg = state["cfg"]
    fold = cfg["task"]["fold"]
    gold = [row.label for row in rows if row.label is not None]
    return PairRecord(
        name=args.name or cfg["model"]["_name"],
        part=f"fold {fold}" if args.part == "fold" else args.part,
        seed=cfg["common"]["seed"],
        ids=[row.id for row in rows],
        gold=gold if len(gold) == len(rows) else None,
        probability=[float(p) for p in found],
        group=[row.group for row in rows],
        about={
            "model": _plain(cfg["model"]),
            "criterion": _plain(cfg["criterion"]),
            "lr": list(cfg["optimization"]["lr"]),
            "batch_size": cfg["dataset"]["batch_size"],
            "data": predictor.task.prepared.manifest,
            # until this checkpoint, validation included
            "training_seconds": state["extra_state"]["previous_training_time"],
            "calibration": str(args.calibration.name) if args.calibration else None,
            "pairs_per_second": len(rows) / seconds,
            "device": str(predictor.device),
            "versions": versions(),
        },
    )


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """A component's own settings: plain values, none of them a path of this machine."""
    return {
        key: value
        for key, value in dict(settings).items()
        if isinstance(value, (str, int, float, bool)) and key not in ("data", "no_progress_bar")
    }
