"""The measurements of each system, and what they are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fairseq_xl.report.runs import Run

Groups = Mapping[str, Sequence[Mapping[str, Any]]]
"""The measurements of each system's runs, by label: an entry of a report's ``checkpoints`` for each seed."""

SETTINGS = {"teacher_forcing": "teacher forcing", "own_decoding": "own greedy decoding"}
SIMILARITIES = {
    "nearest_when_correct": "cos to nearest, correct",
    "nearest_when_wrong": "cos to nearest, wrong",
    "target_when_wrong": "cos to target, wrong",
    "target": "cos to target, all",
}
SOURCES = {
    "projection": "projection",
    "difference": "difference",
    "uniform": "sampled uniformly",
    "most_informative": "most informative",
}


def measured(run: Run) -> dict[str, Any]:
    """The diagnostics of a run that has some."""
    assert run.diagnostics is not None
    return run.diagnostics
