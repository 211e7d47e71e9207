"""``fairseq-xl translate diagnose``: what the syn-margin paper says of its models' vectors, measured on a split."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from fairseq_xl.cli.translate.nearest import load_continuous_model
from fairseq_xl.continuous.criteria.annealed import hinge_margin
from fairseq_xl.continuous.diagnostics.measure import Settings, measure
from fairseq_xl.continuous.diagnostics.table import lines
from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.report.record import commit, device, read_training, versions


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.description = (
        "Measure what a continuous-output model predicts on a data set: accuracies and similarities to nearest word "
        "and target (Table 2 of the syn-margin paper) under teacher forcing and own greedy decoding, the components "
        "of margin losses' negatives (its section 3.1), angles, norms, and hubs."
    )
    parser.add_argument(
        "--checkpoints",
        required=True,
        nargs="+",
        type=Path,
        metavar="FILE",
        help="checkpoints of continuous models; several of one run show how it changed over training",
    )
    parser.add_argument("--data", required=True, type=Path, help="folder made by fairseq-preprocess")
    parser.add_argument("--output", "-o", required=True, type=Path, metavar="FILE", help="JSON file to write")
    parser.add_argument("--gen-subset", default="valid", metavar="SPLIT", help="split to measure on (default: valid)")
    parser.add_argument(
        "--words",
        nargs="+",
        default=[],
        metavar="WORD",
        help="target words for which to list what is near their predictions and synthetic negatives",
    )
    parser.add_argument(
        "-k", type=int, default=10, help="neighbours in these lists, and for counting hubs (default: 10)"
    )
    parser.add_argument(
        "--negatives", type=int, default=5, help="uniform negatives drawn at each position (default: 5, the paper's)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of these draws (default: 1)")
    parser.add_argument(
        "--max-tokens", type=int, default=4000, help="tokens in a batch (default: 4000): lower it when memory runs out"
    )
    parser.add_argument("--cpu", action="store_true", help="do not use a GPU")


def run(args: argparse.Namespace) -> None:
    """Measure, write, print.

    Raises:
        InputError: no such checkpoint, data, split or word; a softmax output; a number that makes no sense; an
            output that cannot be written.
    """
    import fairseq_xl

    fairseq_xl.register()
    for name in ("k", "negatives", "max_tokens"):
        if getattr(args, name) < 1:
            option = "-k" if name == "k" else "--" + name.replace("_", "-")
            raise InputError(f"{option} takes a number from 1, not {getattr(args, name)}")
    # What is missing is better known before the work than after it.
    for path in args.checkpoints:
        if not path.is_file():
            raise InputError(f"no checkpoint at {path}")
    with _writing(args.output):
        args.output.parent.mkdir(parents=True, exist_ok=True)
    settings = Settings(args.gen_subset, args.words, args.k, args.negatives, args.seed, args.max_tokens)
    report = {
        "data": str(args.data),
        **asdict(settings),
        "device": device(args.cpu),
        "versions": versions(),
        "commit": commit(),
        "checkpoints": [diagnose(path, args.data, settings, args.cpu) for path in args.checkpoints],
    }
    with _writing(args.output), atomic_text(args.output) as stream:
        json.dump(report, stream, indent=1, ensure_ascii=False, allow_nan=False)
        stream.write("\n")
    for line in lines(report):
        print(line)
    print(f"written to {args.output}")


def diagnose(checkpoint: Path, data: Path, settings: Settings, on_cpu: bool = False) -> dict[str, Any]:
    """What one checkpoint is, and all that is measured of it, as plain data.

    Raises:
        InputError: see :func:`run`.
    """
    model, task = load_continuous_model(checkpoint, data)
    if torch.cuda.is_available() and not on_cpu:
        model.cuda()
    training = read_training(checkpoint)
    criterion = training.options["criterion"]
    label = f"{checkpoint.name} on {settings.split}"
    return {
        "checkpoint": str(checkpoint),
        "criterion": criterion,
        "epoch": training.epoch,
        "updates": training.updates,
        **measure(model, task, settings, hinge_margin(criterion), label),
    }


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from error
