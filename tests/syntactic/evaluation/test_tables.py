"""Tables of one or several records."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest

from fairseq_xl.cli.main import main
from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.evaluation.tables import read_record, tables

from .conftest import evaluated


def test_seeds_of_a_label_become_one_row(sets: Path, treebanks: list[str], tmp_path: Path, capsys) -> None:
    files = []
    for seed in (1, 2):
        record = evaluated(sets, treebanks, tmp_path, "ours=length", f"seed{seed}=tags")
        record["encoders"][0]["nearest"]["de"]["1-NN"] = 90.0 + seed
        files.append(tmp_path / f"{seed}.json")
        files[-1].write_text(json.dumps(record))
    capsys.readouterr()
    assert main(["embed", "tables", *map(str, files)]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^\| ours \| 91\.50 ± 0\.71/", shown, re.MULTILINE)
    assert "| seed1 |" in shown
    assert "| seed2 |" in shown
    assert main(["embed", "tables", *map(str, files), "--format", "latex", "-o", str(tmp_path / "t.tex")]) == 0
    assert r"\begin{table}" in (tmp_path / "t.tex").read_text()
    assert main(["embed", "tables", *map(str, files), "--format", "page", "-o", str(tmp_path / "t.html")]) == 0
    text = (tmp_path / "t.html").read_text()
    assert re.findall(r"<caption>(.*)</caption>", html.unescape(text)) == re.findall("^### (.*)", shown, re.MULTILINE)
    assert "Made from 1.json, 2.json." in text


def test_a_language_that_one_record_lacks_is_left_empty(sets: Path, treebanks: list[str], tmp_path: Path) -> None:
    record = evaluated(sets, treebanks, tmp_path, "length")
    other = json.loads(json.dumps(record))
    other["encoders"][0]["label"] = "german only"
    for part in (other["texts"]["sets"], other["encoders"][0]["nearest"]):
        del part["en"]
    (nearest, *_) = tables([record, other])
    assert [row[0] for row in nearest.rows] == ["length", "german only", "attainable", "chance", "total/groups"]
    assert nearest.rows[1][1]
    assert nearest.rows[1][2] == ""


def test_records_of_different_sentences_do_not_mix(sets: Path, treebanks: list[str], tmp_path: Path) -> None:
    record = evaluated(sets, treebanks, tmp_path, "length")
    other = json.loads(json.dumps(record))
    other["texts"]["sets"]["en"]["sha256"] = "0"
    with pytest.raises(InputError, match="different texts of language 'en'"):
        tables([record, other])


TEXTS = '{"texts": {"sets": %s, "treebanks": {}}, "encoders": %s}'


@pytest.mark.parametrize(
    "content",
    [
        *("", "[]", "{}", TEXTS % ("{}", "[]"), TEXTS % ("[]", '[{"label": "a"}]'), TEXTS % ("{}", '[{"label": []}]')),
        TEXTS % ('{"de": {"sha256": "0"}}', '[{"label": "a", "nearest": {"de": {"1-NN": 1.0, "5-NN": 2.0}}}]'),
    ],
)
def test_other_files_are_no_records(content: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(InputError, match="is no record of an evaluation"):
        read_record(path)
    with pytest.raises(InputError, match="there is no record of an evaluation"):
        read_record(tmp_path / "b.json")


def test_across_languages_means_are_taken_over_pairs() -> None:
    about = {"sha256": "0", "sentences": 2, "file": "x"}
    best = {"same_attainable": 50.0, "best": 0.5, "chance": 0.25, "of_translation": 0.5}
    pairs = {
        "de-en": {"same": 10.0, "similarity": 0.1, "translation": 1.0},
        "de-fr": {"same": 20.0, "similarity": 0.2, "translation": 2.0},
        "en-de": {"same": 60.0, "similarity": 0.6, "translation": 9.0},
    }
    record = {
        "texts": {"sets": {}, "treebanks": {"de": about, "en": about}},
        "cross_lingual": {"sets": {}, "treebanks": dict.fromkeys(pairs, best)},
        "encoders": [
            {"label": "all", "spec": "x", "cross_lingual": {"treebanks": pairs}},
            {"label": "some", "spec": "x", "cross_lingual": {"treebanks": {"de-en": pairs["de-en"]}}},
        ],
    }
    (table,) = tables([record])
    assert table.headings[-2:] == ["from de", "from en"]
    assert table.rows[0] == ["all", "30.00", "0.3000", "4.0", "0.150", "0.600"]
    assert [row[0] for row in table.rows] == ["all", "best there is", "the translation", "drawn at random"]
    assert table.notes[-1] == "Not scored on all pairs, and left out: some."
