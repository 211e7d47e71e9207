"""``fairseq-xl match search``: the questions of a corpus nearest to new ones."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import decode_lines
from fairseq_xl.vectors.faiss_index import KINDS


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the step's options."""
    parser.description = (
        "Print, for each question of standard input, the questions of a corpus that are most likely to mean the "
        "same: JSON, one line a question. The corpus is encoded once."
    )
    parser.add_argument("corpus", type=Path, help="a question a line")
    parser.add_argument(
        "--encoder",
        type=Path,
        required=True,
        metavar="MODEL",
        help="what gives a question its vector: a checkpoint of a siamese_ architecture or infersent, or a folder of "
        "`fairseq-xl embed pack`",
    )
    parser.add_argument(
        "--index", type=Path, required=True, metavar="DIR", help="folder for the corpus's vectors, used again"
    )
    parser.add_argument(
        "--rerank", type=Path, metavar="CHECKPOINT", help="a matcher of any architecture, which judges the nearest"
    )
    parser.add_argument("--top", type=int, default=5, metavar="N", help="questions to print (default: 5)")
    parser.add_argument(
        "--candidates",
        type=int,
        default=100,
        metavar="N",
        help="nearest vectors that are judged; more find more and take longer (default: 100)",
    )
    parser.add_argument(
        "--kind", choices=KINDS, default="flat", help="faiss index: flat is exact; hnsw and ivf are for millions"
    )
    parser.add_argument("--device", help="such as cpu or cuda:1 (default: a GPU where there is one)")


def run(args: argparse.Namespace) -> None:
    """Encode what is new, search and print.

    Raises:
        InputError: numbers below 1, files or models that cannot be used, an empty question.
    """
    for name in ("top", "candidates"):
        if getattr(args, name) < 1:
            raise InputError(f"--{name} is a number from 1, not {getattr(args, name)}")
    import fairseq_xl

    fairseq_xl.register()
    from fairseq_xl.encode.encoder import SentenceEncoder
    from fairseq_xl.pairs.prediction.predictor import Predictor
    from fairseq_xl.pairs.prediction.search import QuestionIndex, checksum

    encoder = SentenceEncoder.load(args.encoder, args.device)
    index = QuestionIndex(args.index, args.corpus, encoder, checksum(args.encoder), args.kind)
    matcher = Predictor.load(args.rerank, device=args.device) if args.rerank else None
    for number, question in enumerate(decode_lines(sys.stdin.buffer, "standard input"), start=1):
        if not question.strip():
            raise InputError(f"standard input, line {number}: the question is empty: leave it out")
        (found,) = index.search([question], args.top, matcher, args.candidates)
        row = {"question": question, "found": [asdict(hit) for hit in found]}
        print(json.dumps(row, ensure_ascii=False), flush=True)
