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


def test_an_encoder_without_neighbours_in_the_first_record_has_a_column_by_length(
    sets: Path, treebanks: list[str], tmp_path: Path
) -> None:
    record = evaluated(sets, treebanks, tmp_path, "length")
    other = json.loads(json.dumps(record))
    del other["encoders"][0]["nearest"]
    for records in ([record, other], [other, record]):
        by_length = tables(records)[-1]
        assert by_length.headings[-1] == "length"
        assert by_length.rows[0][-1] == f"{record['encoders'][0]['nearest']['en']['length']['2']['1-NN']:.1f}"


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


ABOUT = {"sha256": "0", "sentences": 2, "file": "x"}
BOUNDS = {"same_attainable": 50.0, "best": 0.5, "chance": 0.25}


def partly_parallel(attainable: dict[str, dict], translation: dict[str, float | None]) -> dict:
    """A record of treebanks whose pairs have these bounds, and an encoder with these shares of translations."""
    pairs = {pair: {"same": 10.0, "similarity": 0.1, "translation": share} for pair, share in translation.items()}
    return {
        "texts": {"sets": {}, "treebanks": dict.fromkeys({pair[:2] for pair in attainable}, ABOUT)},
        "cross_lingual": {"sets": {}, "treebanks": {pair: {**BOUNDS, **about} for pair, about in attainable.items()}},
        "encoders": [{"label": "ours", "spec": "x", "cross_lingual": {"treebanks": pairs}}],
    }


def test_pairs_without_translations_do_not_count_in_their_means() -> None:
    none, all_of_them = {"of_translation": None, "translated": 0.0}, {"of_translation": 0.5, "translated": 100.0}
    attainable = {"de-en": all_of_them, "de-fr": none, "en-de": {**all_of_them, "of_translation": 0.25}, "fr-de": none}
    record = partly_parallel(attainable, {"de-en": 10.0, "de-fr": None, "en-de": 30.0, "fr-de": None})
    (table,) = tables([record])
    assert table.headings[-3:] == ["from de", "from en", "from fr"]
    assert table.rows[0][3] == "20.0"
    assert table.rows[2] == ["the translation", "", "0.3750", "100.0", "0.500", "0.250", ""]
    assert table.notes[-1].startswith("On average 50.0 % of a pair's queries have a translation.")
    (both,) = tables([record, record])
    assert both.rows[0][3] == "20.0 ± 0.0"


def test_a_note_says_how_many_queries_have_a_translation() -> None:
    old = {"of_translation": 0.5}  # of a record that does not say how many
    for about, noted in ((old, False), ({**old, "translated": 100.0}, False), ({**old, "translated": 40.0}, True)):
        (table,) = tables([partly_parallel({"de-en": about}, {"de-en": 10.0})])
        assert table.rows[0][3] == "10.0"
        assert table.notes[-1].startswith("On average 40.0 % of a pair's queries have a translation.") == noted
        assert len(table.notes) == 1 + noted
    (table,) = tables([partly_parallel({"de-en": {"of_translation": None}}, {"de-en": None})])
    assert table.rows[0][3] == ""
    assert len(table.notes) == 1
