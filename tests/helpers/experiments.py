"""What experiments leave, made up: their state and their records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from siamese_records import record

PAIRS = 40


def write_state(out: Path, systems: Mapping[str, tuple[str, int]], labels: Mapping[str, str], *baselines: str) -> None:
    """``OUT/experiment.json``, in which every cell is done."""
    stored = {
        "title": "An <experiment>",
        "labels": dict(labels),
        "baselines": list(baselines),
        "systems": {name: list(cell) for name, cell in systems.items()},
        "cells": {name: {"status": "done"} for name in systems},
    }
    out.mkdir(parents=True, exist_ok=True)
    (out / "experiment.json").write_text(json.dumps(stored))


def write_record(out: Path, name: str, content: Mapping[str, Any]) -> Path:
    """``OUT/runs/NAME/record.json``."""
    path = out / "runs" / name / "record.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(content))
    return path


def pair_record(name: str, seed: int, sure: float) -> dict[str, Any]:
    """A classifier that gives ``sure`` to what is true, but for every eighth pair."""
    gold = [int(n % 4 == 0) for n in range(PAIRS)]
    right = [sure if n % 8 else 0.4 for n in range(PAIRS)]
    return {
        "name": name,
        "split": "test",
        "seed": seed,
        "ids": [str(n) for n in range(PAIRS)],
        "gold": gold,
        "probability": [p if g else 1 - p for p, g in zip(right, gold, strict=True)],
        "group": list(range(PAIRS)),
        "about": {},
    }


def classes(out: Path) -> None:
    """Runs of the Siamese encoder from two numbers of sentences, and of a baseline."""
    labels = {"siamese.100": "Siamese, 100", "siamese.200": "Siamese, 200", "svm": "TF-IDF, SVM"}
    systems = {}
    for system, wrong in (("siamese.100", 30), ("siamese.200", 10), ("svm", 40)):
        curve = {"line": "Siamese", "low_resource_size": int(system[-3:])} if system != "svm" else {}
        for seed in (1, 2):
            found = record("SSC(te-en)", wrong + seed, seed=seed, **curve)
            write_record(out, f"{system}.seed{seed}", {**found, "classes": ["📷", "🇺🇸"]})
            systems[f"{system}.seed{seed}"] = (system, seed)
    write_state(out, systems, labels, "svm")


def pairs(out: Path) -> None:
    """Runs of one pair classifier with two seeds, without label transfer, and of a baseline."""
    labels = {"esim": "ESIM", "esim_alone": "ESIM, no transfer", "tfidf": "TF-IDF"}
    runs = (("esim", 1, "esim", 0.9), ("esim", 2, "esim", 0.85), ("esim_alone", 1, "esim", 0.8))
    systems = {}
    for system, seed, name, sure in (*runs, ("tfidf", 1, "tfidf", 0.7)):
        write_record(out, f"{system}.seed{seed}", pair_record(name, seed, sure))
        systems[f"{system}.seed{seed}"] = (system, seed)
    write_state(out, systems, labels, "tfidf")
