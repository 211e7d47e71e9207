#!/usr/bin/env python
"""Measure the suite's losses, training steps, decoding and Siamese encoder.

    python scripts/benchmark.py loss                  # time of each loss against a copy of the bytes it must move
    python scripts/benchmark.py step                  # a training step: softmax against continuous outputs
    python scripts/benchmark.py vocabulary            # the same as the vocabulary grows
    python scripts/benchmark.py decode                # sentences a second, greedy and by beam
    python scripts/benchmark.py export --threads 1    # sentences a second of an export by CTranslate2, by fairseq's
    python scripts/benchmark.py siamese               # pairs and sentences a second of the Siamese classifier
    python scripts/benchmark.py bessel                # error and time of the vMF normaliser

Each prints a table and, with --output FOLDER, writes NAME.jsonl (one figure a line, with device, versions and
settings) and NAME.png. Figures are medians over repeated runs after a warm-up; what is compared is run in turns, and
ratios are taken within a turn, so that a machine that speeds up or slows down does so for both.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import bessel, decode, export, loss, measure, siamese, step, vocabulary
from benchmarks.report import Report

from fairseq_xl.io.errors import InputError

_MODULES = (loss, step, vocabulary, decode, export, siamese, bessel)
COMMANDS = {module.__name__.rpartition(".")[2]: module for module in _MODULES}


def parser() -> argparse.ArgumentParser:
    """The command line, whose sub-commands are the modules above."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = made.add_subparsers(dest="command", required=True)
    for name, module in COMMANDS.items():
        about = module.__doc__ or ""
        command = commands.add_parser(
            name, help=about.partition("\n")[0], description=about, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        command.add_argument("--device", default="cpu", help="cpu or cuda (default: cpu)")
        command.add_argument("--threads", type=int, default=0, help="CPU threads (default: torch's)")
        text = "take the process's own time, where others use the machine: with one thread only"
        command.add_argument("--cpu-time", action="store_true", help=text)
        command.add_argument("--repeats", type=int, default=15, help="turns (default: 15)")
        command.add_argument("--output", type=Path, help="folder for NAME.jsonl and NAME.png")
        module.configure(command)
    return made


def main() -> None:
    args = parser().parse_args()
    import torch

    if args.device.startswith("cuda") and not torch.cuda.is_available():
        sys.exit("error: --device cuda, but torch sees no GPU here: fairseq-xl doctor says why")
    if args.cpu_time:
        if args.device != "cpu" or args.threads != 1:
            sys.exit("error: --cpu-time is for --device cpu and --threads 1")
        measure.clock = time.process_time
    if args.threads:
        torch.set_num_threads(args.threads)
    logging.disable(logging.INFO)  # fairseq turns every logger up, matplotlib's and the compiler's too
    try:
        report = Report(args.command, vars(args))
        COMMANDS[args.command].run(args, report)
        report.finish(COMMANDS[args.command])
    except InputError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
