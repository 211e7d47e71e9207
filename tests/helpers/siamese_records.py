"""Records of made-up predictions, some of them wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

GOLD = [0, 1] * 50


def record(name, wrong, **more):
    predicted = [1 - g if i < wrong else g for i, g in enumerate(GOLD)]
    return {
        "name": name,
        "split": "test",
        "languages": {"low": "te", "high": "en"},
        "training_sentences": {"low": 6, "high": 9},
        "classes": ["neg", "pos"],
        "gold": GOLD,
        "predicted": predicted,
        **more,
    }


def write(folder: Path, records: list[dict[str, Any]]) -> list[str]:
    """The records as files 0.json, 1.json …; their names."""
    paths = [folder / f"{i}.json" for i in range(len(records))]
    for path, one in zip(paths, records, strict=True):
        path.write_text(json.dumps(one))
    return list(map(str, paths))
