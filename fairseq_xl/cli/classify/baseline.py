"""``fairseq-xl classify baseline``: train a baseline on a prepared folder and record its predictions."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_lines
from fairseq_xl.siamese.data.checks import check_file, check_seed

NAMES = ("asv", "mv-rnn", "dsc-t", "mnb-h", "bilstm-w", "bilstm-c", "svm", "fasttext", "st")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the step's options."""
    parser.add_argument(
        "baseline",
        choices=NAMES,
        metavar="NAME",
        help="asv, mv-rnn, dsc-t, mnb-h, bilstm-w, bilstm-c (the paper's), svm, fasttext, st (newer)",
    )
    parser.add_argument("data", type=Path, help="prepared folder")
    parser.add_argument("--output", "-o", type=Path, required=True, metavar="FILE", help="record to write")
    parser.add_argument("--part", choices=("valid", "test"), default="test", help="what to classify (default: test)")
    parser.add_argument("--seed", type=int, default=1, help="of the training (default: 1)")
    parser.add_argument(
        "--more-text",
        type=Path,
        metavar="FILE",
        help="unlabelled sentences of the language for asv's and dsc-t's word vectors: they are made for millions",
    )
    parser.add_argument("--model", metavar="NAME", help="of st: a sentence-transformers model's name or folder")
    parser.add_argument(
        "--parses",
        type=Path,
        metavar="FILE",
        help="of mv-rnn: a bracketed tree a line, of the training, development and test texts",
    )


def run(args: argparse.Namespace) -> None:
    """Train, classify and write the record.

    Raises:
        InputError: an unusable folder, or what a baseline needs and has not.
    """
    import fairseq_xl

    fairseq_xl.register()
    from fairseq_xl.report.classification import confusion, macro_f1
    from fairseq_xl.siamese.data.folder import Prepared
    from fairseq_xl.siamese.evaluation.baselines import BASELINES, Training

    check_seed("--seed", args.seed)
    check_file(args.output)
    if args.baseline == "mv-rnn" and args.part != "test":
        raise InputError("mv-rnn classifies the test part alone")
    prepared = Prepared(args.data)
    train, valid, part = (prepared.corpus(name, "poor") for name in ("train", "valid", args.part))
    more = [prepared.clean(line) for line in read_lines(args.more_text)] if args.more_text else []
    fit, name = BASELINES[args.baseline]
    data = Training(
        train.texts,
        train.labels,
        valid.texts,
        valid.labels,
        len(prepared.classes),
        args.seed,
        more,
        args.model,
        args.parses,
        part.texts,
    )
    began = time.perf_counter()
    classify = fit(data)
    trained = time.perf_counter()
    predicted = [int(label) for label in classify(part.texts)]
    done = time.perf_counter()
    gold = part.labels.tolist()
    record = {
        "name": f"{name}: {Path(args.model).name}" if args.baseline == "st" else name,
        "part": args.part,
        "languages": prepared.manifest["languages"],
        "classes": prepared.classes,
        "seed": args.seed,
        "training_sentences": {"poor": len(train)},
        "gold": gold,
        "predicted": predicted,
        "macro_f1": macro_f1(confusion(gold, predicted, len(prepared.classes))),
        "training_seconds": trained - began,
        "sentences_per_second": len(gold) / (done - trained),
    }
    with atomic_text(args.output) as stream:
        json.dump(record, stream, ensure_ascii=False)
        stream.write("\n")
    print(f"{name}: macro-F1 {100 * record['macro_f1']:.1f}", file=sys.stderr)
