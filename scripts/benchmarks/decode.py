"""sentences a second of beam search: softmax against continuous outputs, densely, by the best words, by faiss

Untrained models of the papers' size translate made-up sentences to a set length, so that all do the same work. For
approximate indices also the recall: the share of the exact ten nearest words that the index finds, for predictions
that lie near words as a trained model's do.
"""

from __future__ import annotations

import argparse
import statistics
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from fairseq.sequence_generator import SequenceGenerator

from benchmarks.measure import in_turns
from benchmarks.models import batch, build, dictionary
from fairseq_xl.continuous.nearest.generator import TopWordsGenerator
from fairseq_xl.continuous.nearest.index import WordIndex
from fairseq_xl.losses import FrozenTable, scores
from fairseq_xl.vectors.faiss_index import KINDS


def configure(parser: argparse.ArgumentParser) -> None:
    text = "target words; one table each, set it to your vocabulary's size (default: %(default)s)"
    parser.add_argument("--words", type=int, nargs="+", default=[50_000], help=text)
    parser.add_argument("--source-words", type=int, default=10_000, help="source words (default: %(default)s)")
    text = "sentences translated at once; fewer where it takes long (default: %(default)s)"
    parser.add_argument("--sentences", type=int, default=16, help=text)
    parser.add_argument("--length", type=int, default=20, help="tokens of each, both sides (default: %(default)s)")
    parser.add_argument("--size", type=int, default=0, help="states; 0: the papers' 1024")
    parser.add_argument("--input-feeding", action="store_true", help="models that feed attention vectors back")
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 5], help="sizes (default: %(default)s)")
    text = "how words are found, as --nearest of fairseq-generate (default: %(default)s)"
    parser.add_argument("--nearest", nargs="+", choices=("dense", "top", *KINDS), default=["dense", "top"], help=text)
    parser.add_argument("--softmax-limit", type=int, default=250_000, help="no softmax above this vocabulary")
    parser.add_argument("--effort", type=float, default=1.0, help="as --nearest-effort")


def run(args: argparse.Namespace, report: Any) -> None:
    for size in args.words:
        words = dictionary(size)
        sample = batch(size, args.source_words, args.sentences, args.length, args.device)
        continuous = build("cosine", words, args.source_words, args, args.device).eval()
        softmax = None
        if size <= args.softmax_limit:
            softmax = build("softmax", words, args.source_words, args, args.device).eval()
        indices = {
            kind: WordIndex(continuous.decoder.targets, kind, words.nspecial, effort=args.effort)
            for kind in args.nearest
            if kind in KINDS
        }
        recall = {kind: measured_recall(index, continuous.decoder.targets) for kind, index in indices.items()}
        for beam in args.beams:
            fixed = {"beam_size": beam, "min_len": args.length, "max_len_b": args.length}
            generators = {}
            if softmax is not None:
                generators["softmax"] = SequenceGenerator([softmax], words, **fixed)
            for nearest in args.nearest:
                if nearest == "dense":
                    made = SequenceGenerator([continuous], words, **fixed)
                else:
                    made = TopWordsGenerator([continuous], words, index=indices.get(nearest), **fixed)
                generators[nearest] = made
            functions = {name: partial(made.generate, made.model.models, sample) for name, made in generators.items()}
            times = in_turns(functions, args.repeats, args.device)
            for name in functions:
                report.add(
                    V=size,
                    beam=beam,
                    output=name if name == "softmax" else f"continuous, {name}",
                    sentences_per_s=args.sentences / statistics.median(times[name]),
                    recall_at_10=recall.get(name),
                )


def measured_recall(index: WordIndex, targets: Any, queries: int = 500, k: int = 10) -> float:
    """Share of the k nearest words that the index finds, for points between a word and a random direction."""
    generator = torch.Generator().manual_seed(2)
    rows = targets.candidates().cpu()
    rows = rows[rows >= 4]
    table = targets.table.cpu()
    chosen = rows[torch.randint(len(rows), (queries,), generator=generator)]
    noise = F.normalize(torch.randn(queries, table.shape[1], generator=generator), dim=-1)
    unit = F.normalize(table[chosen] + 0.7 * noise, dim=-1)
    banned = targets.banned.cpu().clone()
    banned[:4] = True
    _, exact = scores.nearest(unit, FrozenTable(table, banned), k)
    found = index.search(unit, k)
    hits = (exact.unsqueeze(2) == found.unsqueeze(1)).any(2)
    return hits.float().mean().item()


def draw(figure: Any, rows: list[dict[str, Any]]) -> None:
    """Sentences a second, one panel a beam."""
    beams = sorted({row["beam"] for row in rows})
    panels = figure.subplots(1, len(beams), squeeze=False)[0]
    for axes, beam in zip(panels, beams, strict=True):
        mine = [row for row in rows if row["beam"] == beam]
        labels = [f"{row['output']}, V = {row['V']:,}" for row in mine]
        colours = ["tab:red" if row["output"] == "softmax" else "tab:blue" for row in mine]
        bars = axes.barh(labels, [row["sentences_per_s"] for row in mine], color=colours)
        axes.bar_label(bars, fmt="%.1f", padding=3)
        axes.margins(x=0.15)
        axes.invert_yaxis()
        axes.set_title(f"beam {beam}")
        axes.set_xlabel("sentences a second")
