"""``fairseq-xl embed statistics``: how many pairs of which languages there are (the paper's Table 2)."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from fairseq_xl.syntactic.data.prepared import read_manifest


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    text = "a prepared folder (its training pairs), or a corpus file (all pairs that passed the filters)"
    parser.add_argument("data", type=Path, help=text)


def run(args: argparse.Namespace) -> None:
    """Print the table."""
    if args.data.is_dir():
        pairs = read_manifest(args.data).pairs
        counts = {(pair.source, pair.target): pair.sentences["train"] for pair in pairs}
    else:
        from fairseq_xl.syntactic.data.corpus import Corpus

        with closing(Corpus(args.data, must_exist=True)) as corpus:
            counts = corpus.pair_counts()
    print(pair_table(counts))


def pair_table(counts: Mapping[tuple[str, str], int]) -> str:
    """A Markdown table, source languages down and target languages across."""
    sources = sorted({source for source, _ in counts})
    targets = sorted({target for _, target in counts})
    lines = ["| source | " + " | ".join(targets) + " |", "|---|" + "---:|" * len(targets)]
    for source in sources:
        cells = (f"{counts[source, target]:,}" if (source, target) in counts else "-" for target in targets)
        lines.append(f"| {source} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
