"""Finished translations as a recipe leaves them, made up."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import experiments

SIGNATURES = {
    "BLEU": "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0",
    "chrF2": "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0",
}
WORDS = ("a", "the", "man", "woman", "dog", "cat", "is", "runs", "sits", "under", "red", "small", "house", "tree")


def sentences(seed: int, count: int = 40) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=draw.randint(4, 9))) + " ." for _ in range(count)]


def spoilt(lines: list[str], share: float, seed: int) -> list[str]:
    """The same sentences with a share of their words replaced."""
    draw = random.Random(seed)

    def changed(word: str) -> str:
        return draw.choice(WORDS) if draw.random() < share else word

    return [" ".join(map(changed, line.split())) for line in lines]


def record(name: str, bleu: float = 30.0, test: str = "test", **changes: object) -> dict[str, Any]:
    """The record of one run, whose score rises by 0.1 BLEU for each hypothesis of the beam."""

    def scores(beam: int) -> dict[str, Any]:
        found = {"BLEU": bleu + beam / 10, "chrF2": 2 * bleu}
        return {metric: {"score": score, "signature": SIGNATURES[metric]} for metric, score in found.items()}

    return {
        "name": name,
        "source": "de",
        "target": "en",
        "scores": {test: {f"beam{beam}": scores(beam) for beam in (1, 5)}},
        "seed": 1,
        "epochs": 2,
        "seconds_per_epoch": 90.0,
        "device": "cpu: a processor",
        **changes,
    }


def write(
    out: Path, name: str, bleu: float = 30.0, share: float = 0.3, seed: int = 1, measure: str = "accuracy"
) -> Path:
    """``OUT/runs/NAME``: its record, texts and training log, whose two epochs end with 1 and 2 more than ``bleu``."""
    run = experiments.write_record(out, name, record(name, bleu, seed=seed)).parent
    references = sentences(0)
    texts = {"ref": references, "src": [line.upper() for line in references]}
    texts |= {f"hyp.beam{beam}": spoilt(references, share, seed) for beam in (1, 5)}
    for file, lines in texts.items():
        (run / f"{file}.txt").write_text("\n".join(lines) + "\n")
    lines = ["INFO | fairseq_cli.train | num. shared model params: 1,234,567 (num. trained: 1,000,000)"]
    for epoch in (1, 2):
        at = {"epoch": epoch, "num_updates": 10 * epoch - 5}
        inner = {**at, "update": epoch - 0.5, "loss": "1", "ups": "2", "bsz": "60"}
        train = {"epoch": epoch, "train_loss": "1", "train_train_wall": "90", "train_num_updates": 10 * epoch}
        found = {f"valid_{measure}": str(bleu + epoch), "valid_num_updates": 10 * epoch}
        lines += [json.dumps(values) for values in (inner, train, {"epoch": epoch, "valid_loss": "1", **found})]
    (run / "train.log").write_text("\n".join(lines) + "\n")
    return run
