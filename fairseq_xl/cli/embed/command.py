"""``fairseq-xl syntactic STEP``."""

from __future__ import annotations

import argparse

from fairseq_xl.cli.steps import add_steps, run_step

STEPS = {
    "tagger": ("fairseq_xl.cli.embed.tagger", "train, test and use part-of-speech taggers"),
    "prepare": ("fairseq_xl.cli.embed.prepare", "from parallel text to tagged, binarised training data"),
    "statistics": ("fairseq_xl.cli.embed.statistics", "count the pairs of languages of a corpus"),
    "build-eval": ("fairseq_xl.cli.embed.build_eval", "hold out groups of sentences with the same tags"),
    "evaluate": ("fairseq_xl.cli.embed.evaluate", "score sentence embeddings by the syntax that they carry"),
    "tables": ("fairseq_xl.cli.embed.tables", "one table from the records of several evaluations"),
    "map": ("fairseq_xl.cli.embed.map", "draw embeddings in two dimensions, coloured by tag sequence"),
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the steps."""
    add_steps(parser, STEPS)


run = run_step
