"""``fairseq-xl siamese STEP``."""

from __future__ import annotations

import argparse

from fairseq_xl.steps import add_steps, run_step

STEPS = {
    "prepare": (
        "fairseq_xl.siamese.prepare_command",
        "labelled text of one or two languages into a folder to train on",
    ),
    "statistics": ("fairseq_xl.siamese.statistics_command", "sentences, lengths and class shares"),
    "predict": (
        "fairseq_xl.siamese.predict_command",
        "classes of new text, with the reference sentences nearest to it",
    ),
    "label": ("fairseq_xl.siamese.label_command", "classes for unlabelled sentence pairs, from their rich side"),
    "baseline": (
        "fairseq_xl.siamese.baseline_command",
        "train and record another classifier, the paper's or a newer one",
    ),
    "report": ("fairseq_xl.siamese.report_command", "tables, tests and figures from records of predictions"),
    "gain": ("fairseq_xl.siamese.gain_command", "what one system gains over another, language by language"),
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the steps."""
    add_steps(parser, STEPS)


run = run_step
