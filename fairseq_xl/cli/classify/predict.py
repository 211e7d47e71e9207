"""``fairseq-xl classify predict``: classes of new text, or of the prepared test set with its scores."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import decode_lines, read_lines
from fairseq_xl.siamese.data.checks import check_file, check_least

if TYPE_CHECKING:
    from fairseq_xl.siamese.prediction.classifier import Classifier

AT_ONCE = 2048


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the step's options."""
    import fairseq_xl

    fairseq_xl.register()
    from fairseq_xl.cli.classify.rule_options import add_rule

    parser.add_argument("checkpoint", type=Path, help="checkpoint of fairseq-train")
    parser.add_argument("input", type=Path, nargs="?", help="text to classify, one sentence a line (default: stdin)")
    parser.add_argument(
        "--part",
        choices=("valid", "test"),
        help="classify this part of the prepared folder instead, "
        "and write a record of predictions for `fairseq-xl classify report`",
    )
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="the prepared folder, where it has moved since training"
    )
    parser.add_argument("--output", "-o", type=Path, metavar="FILE", help="file to write (default: stdout)")
    parser.add_argument("--language", metavar="CODE", help="of the text (default: the poor one)")
    parser.add_argument("--explain", type=int, default=3, metavar="N", help="reference sentences to show (default: 3)")
    parser.add_argument("--labels-only", action="store_true", help="one class a line instead of JSON")
    parser.add_argument("--name", default="SSC", help="of the system, in the record of --part (default: SSC)")
    parser.add_argument(
        "--curve",
        nargs=2,
        metavar=("LINE", "N"),
        help="in the record of --part: the point of a learning curve at N training sentences "
        "(default: of the system's own, at the poor language's)",
    )
    parser.add_argument("--cpu", action="store_true", help="do not use a GPU")
    add_rule(parser)


def run(args: argparse.Namespace) -> None:
    """Classify and write.

    Raises:
        InputError: no such checkpoint, folder or text; a blank line; options that make no sense.
    """
    from fairseq_xl.cli.classify.rule_options import chosen_rule
    from fairseq_xl.siamese.prediction.classifier import Classifier, side_of

    check_least("--explain", args.explain)
    check_file(args.output)
    if args.part and args.output is None:
        raise InputError("--part writes a record: name its file with --output")
    if args.curve and not (args.curve[1].isdecimal() and int(args.curve[1])):
        raise InputError(f"--curve takes a name and a number from 1, not {args.curve[1]!r}")
    classifier = Classifier.load(args.checkpoint, args.data, chosen_rule(args), args.cpu)
    if args.part:
        record = part_record(classifier, args.part, args.name)
        if args.curve:
            record |= {"line": args.curve[0], "poor_size": int(args.curve[1])}
        with atomic_text(args.output) as stream:
            json.dump(record, stream, ensure_ascii=False)
            stream.write("\n")
        print(f"macro-F1 {100 * record['macro_f1']:.1f}", file=sys.stderr)
        return
    languages = classifier.task.prepared.manifest["languages"]
    side = side_of(args.language, languages) if args.language else "poor"
    lines = read_lines(args.input) if args.input else decode_lines(sys.stdin.buffer, "stdin")
    if args.output:
        with atomic_text(args.output) as stream:
            unseen, total = _write(classifier, lines, side, args, stream)
    else:
        unseen, total = _write(classifier, lines, side, args, sys.stdout)
    if unseen:
        print(
            f"{unseen} of {total} sentences have no n-gram that the training text has: their classes are guesses",
            file=sys.stderr,
        )


def _write(
    classifier: Classifier, lines: Iterable[str], side: str, args: argparse.Namespace, stream: TextIO
) -> tuple[int, int]:
    unseen = total = 0
    batch: list[str] = []

    def flush() -> None:
        nonlocal unseen
        for text, found in zip(batch, classifier.predict(batch, side, args.explain), strict=True):
            unseen += found.known == 0
            row = found.label if args.labels_only else json.dumps({"text": text, **asdict(found)}, ensure_ascii=False)
            stream.write(row + "\n")
        batch.clear()

    for total, line in enumerate(lines, start=1):
        if not classifier.task.prepared.clean(line):
            raise InputError(f"{args.input or 'stdin'}, line {total} is empty: leave it out, for it has no class")
        batch.append(line)
        if len(batch) == AT_ONCE:
            flush()
    flush()
    return unseen, total


def part_record(classifier: Classifier, part: str, name: str) -> dict[str, Any]:
    """Gold and predicted classes of a part of the poor language, by all draws together and by each alone."""
    import numpy as np

    from fairseq_xl.report.classification import confusion, macro_f1

    sentences = classifier.task.sentences(part, ("poor",))
    began = time.perf_counter()
    vectors = classifier.task.encode(classifier.model, sentences, np.arange(len(sentences)))
    by_draw = classifier.scores(vectors)
    seconds = time.perf_counter() - began
    predicted = by_draw.mean(0).argmax(1).tolist()
    gold, count = sentences.labels.tolist(), len(classifier.classes)
    alone = [macro_f1(confusion(gold, draw.tolist(), count)) for draw in by_draw.argmax(2)]
    manifest = classifier.task.prepared.manifest
    counts = manifest["sentences"]
    return {
        "name": name,
        "part": part,
        "languages": manifest["languages"],
        "classes": classifier.classes,
        "rule": {**asdict(classifier.rule), "side": classifier.side},
        "seed": classifier.task.cfg.seed,
        "training_sentences": {side: counts[side]["train"] for side in classifier.task.paired_sides},
        "gold": gold,
        "predicted": predicted,
        "macro_f1": macro_f1(confusion(gold, predicted, count)),
        "macro_f1_of_each_draw": alone,
        "sentences_per_second": len(gold) / seconds,
    }
