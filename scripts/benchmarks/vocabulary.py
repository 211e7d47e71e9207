"""time and memory of a training step as the target vocabulary grows

syn_margin_proj and vmf_posterior with 1,000 sampled words at every size, the softmax up to --softmax-limit words.
`flat` is the time by that of the smallest vocabulary, taken in turns.
"""

from __future__ import annotations

import argparse
import statistics
from typing import Any

from benchmarks import step
from benchmarks.measure import in_turns, ratio
from benchmarks.models import TrainingStep, dictionary


def configure(parser: argparse.ArgumentParser) -> None:
    step.options(parser)
    parser.set_defaults(variants=["syn_margin_proj", "vmf_posterior_sampled", "softmax"], source_words=10_000)
    text = "target words; leave out the largest where memory runs out (default: %(default)s)"
    parser.add_argument("--words", type=int, nargs="+", default=[10_000, 50_000, 250_000, 1_000_000], help=text)
    parser.add_argument(
        "--softmax-limit",
        type=int,
        default=250_000,
        help="the largest vocabulary tried with a softmax (its weights, their gradients and Adam's two moments "
        "take 9.6 GB at a million words, the logits as much again)",
    )


def run(args: argparse.Namespace, report: Any) -> None:
    for variant in args.variants:
        softmax = variant.startswith("softmax")
        sizes = [size for size in args.words if not softmax or size <= args.softmax_limit]
        if not sizes:
            continue
        # Vocabularies are compared in turns, two at a time: all at once would not fit into memory.
        first = TrainingStep(variant, dictionary(sizes[0]), args, args.device)
        for size in sizes:
            made = first if size == sizes[0] else TrainingStep(variant, dictionary(size), args, args.device)
            times = in_turns({"first": first.step, "this": made.step}, args.repeats, args.device)
            report.add(
                output=variant,
                V=size,
                seconds=statistics.median(times["this"]),
                flat=ratio(times, "this", "first"),
                tokens_per_s=made.tokens / statistics.median(times["this"]),
                peak_MiB=step.memory(variant, args, size),
            )


def draw(figure: Any, rows: list[dict[str, Any]]) -> None:
    """Seconds and memory by vocabulary size."""
    shown = [("seconds", "seconds a step"), ("peak_MiB", "peak memory, MiB")]
    shown = [(key, label) for key, label in shown if rows[0][key] is not None]
    panels = figure.subplots(1, len(shown), squeeze=False)[0]
    for axes, (key, label) in zip(panels, shown, strict=True):
        for variant in dict.fromkeys(row["output"] for row in rows):
            mine = [row for row in rows if row["output"] == variant]
            axes.plot([row["V"] for row in mine], [row[key] for row in mine], marker="o", label=variant)
        axes.set_xscale("log")
        axes.set_ylim(bottom=0)
        axes.set_xlabel("target words")
        axes.set_ylabel(label)
    panels[0].legend()
