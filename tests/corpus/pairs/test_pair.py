"""Rows of the corpus as files."""

from __future__ import annotations

import json
from pathlib import Path

from fairseq_xl.corpus.pairs.pair import Pair, write_jsonl

ROWS = [
    Pair(0, "Summer", "L'été", 1, "p0", "p0", "http://e/0", "http://f/0", 2, None, None, "test"),
    Pair(1, 'A "cat"', "Un chien", 0, "p0", "p1", "http://e/0", "http://f/1", 2, 0.5, 0, "validation"),
]


def test_json_lines_give_the_rows_back(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "a.jsonl", ROWS)
    lines = (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()
    assert [Pair(**json.loads(line)) for line in lines] == ROWS
    assert "été" in lines[0]
