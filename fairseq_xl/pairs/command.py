"""``fairseq-xl pairs STEP``."""

from __future__ import annotations

import argparse

from fairseq_xl.steps import add_steps, run_step

STEPS = {
    "prepare": ("fairseq_xl.pairs.prepare_command", "pairs of sentences into a folder to train on"),
    "words": ("fairseq_xl.pairs.words_command", "text as the matchers read it, to train word vectors on"),
    "statistics": (
        "fairseq_xl.pairs.statistics_command",
        "terms per sentence, and terms, sentences and pairs without a vector",
    ),
    "normalise": ("fairseq_xl.pairs.normalise_command", "repair words without a vector: accents, spelling, near words"),
    "mint": ("fairseq_xl.pairs.mint_command", "labelled pairs of one language from another's, through translations"),
    "audit": ("fairseq_xl.pairs.audit_command", "how sure minting is, judged on labelled pairs"),
    "predict": ("fairseq_xl.pairs.predict_command", "probabilities of new pairs, or of a prepared part"),
    "similarity": ("fairseq_xl.pairs.similarity_command", "do probabilities rank pairs as people do (STS-B)?"),
    "calibrate": ("fairseq_xl.pairs.calibrate_command", "temperature and prior for a trained model"),
    "search": ("fairseq_xl.pairs.search_command", "the sentences of a corpus nearest to a question"),
    "baseline": ("fairseq_xl.pairs.baseline_command", "train and record a matcher without a network"),
    "ensemble": ("fairseq_xl.pairs.ensemble_command", "average or stack the records of several matchers"),
    "folds": ("fairseq_xl.pairs.folds_command", "accuracy of cross-validation, and votes of its models"),
    "report": ("fairseq_xl.pairs.report_command", "tables, intervals and figures from records"),
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the steps."""
    add_steps(parser, STEPS)


run = run_step
