"""Table 1 from made-up runs."""

import re
from types import SimpleNamespace

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.report.runs import load_runs, translations
from fairseq_xl.report.scores import METRICS, comparisons, marks, score_table, spread
from fairseq_xl.report.significance import KeptTests


@pytest.fixture
def runs(make_run):
    systems = {}
    for seed in (1, 2, 3):
        for system, bleu, share in (("ce", 30, 0.5), ("proj", 40, 0.1), ("alike", 30, 0.5)):
            name = f"{system}.seed{seed}"
            make_run(name, bleu + seed / 10, share, seed)
            systems[name] = (system, seed)
    make_run("once", 20, 0.8, 1)
    systems["once"] = ("once", 1)
    return translations(load_runs(make_run.out, systems, {}))


def test_comparisons(runs, tmp_path):
    found = comparisons(runs, ["ce", "absent"], 5, KeptTests(tmp_path / "t.json"), samples=100)
    by_name = {entry["system"]: entry for entry in found}
    assert list(by_name) == ["proj", "alike", "once"]
    better = by_name["proj"]
    assert better["difference"] == pytest.approx(10)
    assert better["p_seeds"] < 0.001
    assert list(better["p_sentences"]) == [1, 2, 3]
    assert max(better["p_sentences"].values()) < 0.05
    assert by_name["alike"]["p_seeds"] == pytest.approx(1)
    assert min(by_name["alike"]["p_sentences"].values()) > 0.05
    for name, within in (("proj", False), ("alike", True), ("once", False)):
        low, high = by_name[name]["interval"]
        assert (low < 0 < high) is within
    assert by_name["once"]["p_seeds"] is None
    assert list(by_name["once"]["p_sentences"]) == [1]


def test_runs_with_other_references_are_not_compared(runs, tmp_path):
    changed = runs[0].folder / "ref.txt"
    changed.write_text(changed.read_text().upper())
    with pytest.raises(InputError, match=r"ce\.seed1 and .* were scored against other references"):
        comparisons(runs, ["ce"], 5, KeptTests(tmp_path / "t.json"), samples=100)


def test_table(runs, tmp_path):
    compared = comparisons(runs, ["ce"], 5, KeptTests(tmp_path / "t.json"), samples=100)
    table = score_table(runs, {"ce": "softmax", "proj": "projection"}, compared, 5, "Scores")
    assert table.headings == [
        "system",
        "BLEU, beam 1",
        "BLEU, beam 5",
        "chrF2, beam 5",
        "BLEU by softmax",
        "seeds",
        "epochs",
    ]
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["softmax"] == ["30.3 ± 0.1", "30.7 ± 0.1", "60.4 ± 0.2", "", "1, 2, 3", "2"]
    interval = r"\([+−]\d+\.\d to [+−]\d+\.\d; "
    assert re.fullmatch(rf"\+10\.0† {interval}3/3\)", rows["projection"][3])
    assert re.fullmatch(rf"\+0\.0 {interval}0/3\)", rows["alike"][3])
    assert re.fullmatch(rf"−10\.2 {interval}1/1\)", rows["once"].pop(3))
    assert rows["once"] == ["20.1", "20.5", "40.0", "1", "2"]
    assert table.signature.startswith("BLEU nrefs:1")
    assert any("Welch" in note for note in table.notes)
    assert any(note.startswith("BLEU: nrefs:1") for note in table.notes)


def test_a_seed_that_says_the_opposite_is_no_support():
    found = {
        "difference": 0.4,
        "interval": (-0.2, 1.0),
        "p_seeds": 0.2,
        "p_sentences": {1: 0.01, 2: 0.01, 3: 0.5},
        "differences": {1: 2.0, 2: -1.0, 3: 0.2},
    }
    assert marks(found, "†") == "+0.4 (−0.2 to +1.0; 1/3, 1 against)"


def test_both_metrics(runs, tmp_path):
    kept = KeptTests(tmp_path / "t.json")
    compared = [c for metric in METRICS for c in comparisons(runs, ["ce"], 5, kept, metric, samples=100)]
    table = score_table(runs, {"ce": "softmax"}, compared, 5, "Scores")
    assert table.headings[4:6] == ["BLEU by softmax", "chrF2 by softmax"]
    cells = next(row for row in table.rows if row[0] == "proj")[4:6]
    assert [cell.split()[0] for cell in cells] == ["+10.0†", "+20.0†"]


def test_lengths_where_records_say_them(runs):
    for run, ratio in zip(runs, (1.02, None, 0.98), strict=False):
        if ratio:
            run.record["scores"]["test"]["beam5"]["BLEU"]["length_ratio"] = ratio
    table = score_table(runs, {}, [], 5, "Scores")
    assert table.headings[3:5] == ["chrF2, beam 5", "length, beam 5"]
    assert {row[0]: row[4] for row in table.rows} == {"ce": "1.02", "proj": "", "alike": "0.98", "once": ""}
    assert "Length: of the translations" in table.notes[0]


def test_spread():
    assert spread([1.0]) == "1.0"
    assert spread([1.0, 3.0]) == "2.0 ± 1.4"


def test_equal_scores_speak_neither_for_nor_against():
    compared = {
        "p_seeds": None,
        "difference": 0.0,
        "interval": (0.0, 0.0),
        "differences": {1: 0.0},
        "p_sentences": {1: 0.01},
    }
    assert marks(compared, "†") == "+0.0 (+0.0 to +0.0; 0/1)"


@pytest.mark.parametrize(("method", "draws"), [("ar", 0), ("bs", 7)])
def test_samples_are_those_of_the_bootstrap(runs, method, draws):
    seen = []
    tests = SimpleNamespace(
        sentences_differ=lambda *given: 1.0, difference_interval=lambda *given: seen.append(given[4]) or (0, 0)
    )
    comparisons(runs, ["ce"], 5, tests, method=method, samples=7)
    assert set(seen) == {draws}
