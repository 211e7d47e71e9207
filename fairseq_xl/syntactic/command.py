"""``fairseq-xl syntactic STEP``."""

from __future__ import annotations

import argparse

from fairseq_xl.steps import add_steps, run_step

STEPS = {
    "tagger": ("fairseq_xl.syntactic.tagger_command", "train, test and use part-of-speech taggers"),
    "prepare": ("fairseq_xl.syntactic.prepare_command", "from parallel text to tagged, binarised training data"),
    "statistics": ("fairseq_xl.syntactic.statistics_command", "count the pairs of languages of a corpus"),
    "build-eval": ("fairseq_xl.syntactic.build_eval_command", "hold out groups of sentences with the same tags"),
    "evaluate": ("fairseq_xl.syntactic.evaluate_command", "score sentence embeddings by the syntax that they carry"),
    "tables": ("fairseq_xl.syntactic.tables_command", "one table from the records of several evaluations"),
    "map": ("fairseq_xl.syntactic.map_command", "draw embeddings in two dimensions, coloured by tag sequence"),
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the steps."""
    add_steps(parser, STEPS)


run = run_step
