"""``fairseq-xl corpus STEP --project DIR``."""

from __future__ import annotations

import argparse

from fairseq_xl.steps import add_steps, run_step

STEPS = {
    "init": ("fairseq_xl.corpus.init_command", "make a project folder with settings to edit"),
    "crawl": ("fairseq_xl.corpus.crawl_command", "fetch the pages of a website, or read a folder of them"),
    "extract": ("fairseq_xl.corpus.extract_command", "lines of text from the pages and their counterparts"),
    "translate": ("fairseq_xl.corpus.translate_command", "the second language's lines into the first"),
    "align": ("fairseq_xl.corpus.align_command", "which lines mean the same"),
    "topics": ("fairseq_xl.corpus.topics_command", "what each page is about"),
    "negatives": ("fairseq_xl.corpus.negatives_command", "pairs that share a topic and not a meaning"),
    "export": ("fairseq_xl.corpus.export_command", "parts, folds, files and a data card"),
    "run": ("fairseq_xl.corpus.run_command", "all steps that are not done"),
    "align-quality": (
        "fairseq_xl.corpus.align_quality_command",
        "precision and recall of the aligners on gold alignments",
    ),
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the steps."""
    add_steps(parser, STEPS)


run = run_step
