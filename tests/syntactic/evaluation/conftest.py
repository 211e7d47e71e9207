"""Evaluation sets and treebanks, and what the command finds on them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fairseq_xl.cli.main import main

GROUPS = {"DET NOUN VERB": 6, "PRON VERB": 7, "VERB PUNCT": 6}


@pytest.fixture
def sets(tmp_path: Path) -> Path:
    """Evaluation files in two languages: three groups of 19 sentences."""
    folder = tmp_path / "sets"
    folder.mkdir()
    for language in ("de", "en"):
        rows = [f"{language} {i} {tags.lower()}\t{tags}" for tags, n in GROUPS.items() for i in range(n)]
        (folder / f"{language}.tsv").write_text("\n".join(["text\tupos", *rows]) + "\n", encoding="utf-8")
    return folder


@pytest.fixture
def treebanks(tmp_path: Path) -> list[str]:
    """Four parallel sentences in two languages, and one more in English."""
    patterns = ["DET NOUN VERB", "PRON VERB", "VERB PUNCT", "NOUN"]
    made = []
    for language, more in (("de", []), ("en", ["X"])):
        blocks = []
        for number, tags in enumerate([*patterns, *more]):
            rows = [f"{i}\tw{i}{language}\t_\t{tag}" + "\t_" * 6 for i, tag in enumerate(tags.split(), start=1)]
            blocks.append("\n".join([f"# sent_id = s{number}", *rows]))
        path = tmp_path / f"{language}_pud.conllu"
        path.write_text("\n\n".join(blocks) + "\n\n", encoding="utf-8")
        made.append(f"{language}={path}")
    return made


def evaluated(sets: Path, treebanks: list[str], tmp_path: Path, *encoders: str) -> dict:
    output = tmp_path / "out" / "record"
    status = main(["embed", "evaluate", *encoders, "--sets", str(sets), "--treebanks", *treebanks, "-o", str(output)])
    assert status == 0
    return json.loads(Path(f"{output}.json").read_text())
