"""Rows of the corpus as files."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from fairseq_xl.corpus.pairs.pair import Pair, write_jsonl, write_tsv

ROWS = [
    Pair(0, "Summer", "L'été", 1, "p0", "p0", "http://e/0", "http://f/0", 2, None, None, "test"),
    Pair(1, 'A "cat"', "Un chien", 0, "p0", "p1", "http://e/0", "http://f/1", 2, 0.5, 0, "validation"),
]


def test_table_quotes_nothing_and_leaves_none_empty(tmp_path: Path) -> None:
    write_tsv(tmp_path / "a.tsv", ROWS)
    header, first, second = (tmp_path / "a.tsv").read_text(encoding="utf-8").splitlines()
    assert header.split("\t") == list(asdict(ROWS[0]))
    assert first.split("\t") == [
        "0",
        "Summer",
        "L'été",
        "1",
        "p0",
        "p0",
        "http://e/0",
        "http://f/0",
        "2",
        "",
        "",
        "test",
    ]
    assert second.split("\t")[1::8] == ['A "cat"', "0.5"]


def test_json_lines_give_the_rows_back(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "a.jsonl", ROWS)
    lines = (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()
    assert [Pair(**json.loads(line)) for line in lines] == ROWS
    assert "été" in lines[0]
