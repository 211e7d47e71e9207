"""Made-up measurements of two seeds of a system, with three checkpoints each, and a system without any."""

import json

import pytest

from fairseq_xl.report.diagnosis.measurements import SOURCES
from fairseq_xl.report.runs import load_runs, translations


def distribution(mean, std=0.1):
    spots = {str(q): mean + (q - 0.5) * std for q in (0.05, 0.25, 0.5, 0.75, 0.95)}
    histogram = {"low": -1, "high": 1, "scale": "linear", "counts": [0, 3, 7, 0]}
    return {"count": 10, "mean": mean, "std": std, "quantiles": spots, "histogram": histogram}


def measured(cosine, updates=10):
    similar = {
        "positions": 1234,
        "nearest_when_correct": cosine + 0.1,
        "nearest_when_wrong": cosine,
        "target_when_wrong": 0.4,
        "target": None,
        "accuracy": {"1": 60.0, "10": 80.25},
    }
    stability = {
        source: {"lambda3": distribution(-0.0001), "lambda4": distribution(1.0), "hinge_active": active}
        for source, active in zip(SOURCES, (0.25, 0.5, None, 0.75), strict=True)
    }
    kappa = distribution(3)
    kappa["histogram"] = {"low": 0.01, "high": 100, "scale": "log", "counts": [1, 2, 3]}
    occurrences = {"skewness": 2.5, "never": 0.5, "hubs": [["the", 9], ["a", 8]]}
    word = {
        "word": "dog",
        "positions": 4,
        "wrong": 1,
        "mean": None,
        "mean_when_wrong": {name: [["cat", 0.5]] for name in ("prediction", "projection", "difference")},
    }
    return {
        "updates": updates,
        "teacher_forcing": similar,
        "own_decoding": similar,
        "stability": stability,
        "geometry": {"cosine": distribution(0.5), "kappa": kappa},
        "hubness": {of: occurrences for of in ("predictions", "targets", "table")},
        "words": [word],
    }


@pytest.fixture
def runs(make_run):
    for seed in (1, 2):
        found = [measured(0.5, updates) for updates in (5, 8)] + [measured(0.5 + seed / 10)]
        run = make_run(f"vmf.{seed}", seed=seed)
        (run / "diagnostics.json").write_text(json.dumps({"split": "valid", "checkpoints": found}))
    make_run("softmax.1")
    systems = {"vmf.1": ("vmf", 1), "softmax.1": ("softmax", 1), "vmf.2": ("vmf", 2)}
    return translations(load_runs(make_run.out, systems, {}))
