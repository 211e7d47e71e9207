"""``fairseq-xl match baseline``: train a matcher without a network on a prepared folder and record what it says."""

from __future__ import annotations

import argparse
import sys
import time
from importlib import metadata
from pathlib import Path

from fairseq_xl.io.errors import InputError

NAMES = ("character_ngram", "tfidf", "bm25", "vectors", "st", "constant")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the step's options."""
    parser.add_argument(
        "baseline",
        choices=NAMES,
        metavar="NAME",
        help="character_ngram (the paper's), tfidf, bm25, vectors (averaged word vectors), "
        "st (sentence-transformers), constant (the training pairs' share of matches)",
    )
    parser.add_argument("data", type=Path, help="prepared folder, on whose train part it learns")
    parser.add_argument("--output", "-o", type=Path, required=True, metavar="FILE", help="record to write")
    parser.add_argument("--part", choices=("valid", "test"), help="what to judge (default: valid)")
    parser.add_argument(
        "--fold",
        type=int,
        metavar="K",
        help="judge fold K of the train part, from 0, and learn from the rest: what stacking is fitted on",
    )
    parser.add_argument("--seed", type=int, default=1, help="of the training (default: 1)")
    parser.add_argument(
        "--learner",
        choices=("boosting", "logistic"),
        help="gradient boosting or logistic regression (default: boosting for character_ngram, logistic for others)",
    )
    parser.add_argument("--vectors", type=Path, metavar="FILE", help="of vectors: the file of word vectors")
    parser.add_argument("--model", metavar="NAME", help="of st: a sentence-transformers model's name or folder")
    parser.add_argument("--name", help="of the matcher in tables (default: the baseline's)")


def run(args: argparse.Namespace) -> None:
    """Train, judge and write the record.

    Raises:
        InputError: an unusable folder, or what a baseline needs and has not.
    """
    from fairseq_xl.pairs.data.folder import Prepared
    from fairseq_xl.pairs.evaluation.baselines import BASELINES, Training, fit
    from fairseq_xl.pairs.evaluation.record import PairRecord
    from fairseq_xl.pairs.evaluation.scores import log_losses
    from fairseq_xl.vectors.table import read_vectors

    if args.fold is not None and args.part:
        raise InputError("--fold judges pairs of the train part: leave --part out")
    if args.learner and args.baseline == "constant":
        raise InputError("constant learns nothing but a share: leave --learner out")
    prepared = Prepared(args.data)
    if args.fold is None:
        part = args.part or "valid"
        train, judged = prepared.rows("train"), prepared.rows(part)
    else:
        part = "train"
        train, judged = (prepared.fold(args.fold, held_out) for held_out in (False, True))
    if not judged:
        place = f"its {part} part" if args.fold is None else f"fold {args.fold}"
        raise InputError(f"{args.data} has no pair in {place}: prepare it with more")
    began = time.perf_counter()
    table = None
    if args.vectors:
        words = {word for row in (*train, *judged) for text in (row.left, row.right) for word in text.split()}
        table = read_vectors(args.vectors, words, progress=False)
    judge = fit(args.baseline, Training(train, table, args.model), args.seed, args.learner)
    trained = time.perf_counter()
    probability = judge(judged)
    done = time.perf_counter()
    gold = [row.label for row in judged if row.label is not None]
    record = PairRecord(
        name=args.name or args.baseline,
        part=part,
        seed=args.seed,
        ids=[row.id for row in judged],
        gold=gold if len(gold) == len(judged) else None,
        probability=probability.tolist(),
        group=[row.group for row in judged],
        about={
            "matcher": args.baseline,
            "learner": args.learner or BASELINES[args.baseline][1],
            "model": args.model,
            "fold": args.fold,
            "training_pairs": len(train),
            "training_seconds": trained - began,
            "pairs_per_second": len(judged) / (done - trained),
            "versions": {package: metadata.version(package) for package in ("numpy", "scikit-learn")},
        },
    )
    record.write(args.output)
    if record.gold is not None:
        print(f"{record.name}: log loss {log_losses(record.gold, probability).mean():.4f}", file=sys.stderr)
