"""The report: the table of the paper with intervals, differences, and pictures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fairseq_xl.cli.main import main
from fairseq_xl.pairs.evaluation import comparison
from fairseq_xl.pairs.evaluation.record import PairRecord, together
from fairseq_xl.pairs.evaluation.scores import log_losses

pytest.importorskip("sklearn")

GOLD = ([1] * 3 + [0] * 17) * 10


def record(name, seed=1, right=0.8, **more):
    random = np.random.default_rng([seed, *name.encode()])
    sure = np.clip(right + 0.1 * random.normal(size=200), 0.05, 0.95)
    probability = np.where(GOLD, sure, 1 - sure).tolist()
    ids = [str(i) for i in range(200)]
    return PairRecord(name, "valid", seed, ids, GOLD, probability, [i // 2 for i in range(200)], more)


RECORDS = [
    record("esim", 1, 0.9, training_seconds=10.0),
    record("esim", 2, 0.8, training_seconds=20.5),
    record("bm25", right=0.6),
]


@pytest.fixture(scope="module")
def found():
    return comparison.compare(together(RECORDS), samples=300)


def test_the_table(found):
    table = comparison.tables(found, found.best)["scores"]
    prior, esim, bm25 = (dict(zip(table.headings, row, strict=True)) for row in table.rows)
    assert table.title == "200 valid pairs, 30 of them matching"
    assert prior["classifier"] == "constant prior"
    assert prior["log loss"] == "0.4227"  # the entropy of 15 %
    assert (prior["R"], prior["R+"], prior["ECE"], prior["average precision"]) == ("0.85", "0.00", "0.000", "0.150")
    assert esim["runs"] == "2"
    mean = np.mean([log_losses(GOLD, r.probability).mean() for r in RECORDS[:2]])
    assert esim["log loss"] == f"{mean:.4f}"
    low, high = map(float, esim["95 % interval"].split(" to "))
    assert low < mean < high
    assert esim["training seconds"] == "30"
    assert bm25["training seconds"] == ""
    assert (esim["P"], esim["F1+"]) == ("1.00", "1.00")
    assert any("100 groups" in note for note in table.notes)


def test_differences_are_paired(found):
    table = comparison.tables(found, "esim")["differences"]
    assert [row[0] for row in table.rows] == ["constant prior", "bm25"]
    apart = found.measured["bm25"].scores.log_loss - found.measured["esim"].scores.log_loss
    assert table.rows[1][1] == f"+{apart:.4f}"
    low, high = map(float, table.rows[1][2].split(" to "))
    assert 0 < low < apart < high
    table = comparison.tables(found, "constant prior")["differences"]
    assert table.rows[0][1].startswith("−")


def test_the_papers_figures_stand_beside(found):
    table = comparison.tables(found, "esim", comparison.PAPER)["scores"]
    rows = {row[0]: dict(zip(table.headings, row, strict=True)) for row in table.rows}
    assert len(set(table.headings)) == len(table.headings)
    assert (rows["esim"]["paper's log loss"], rows["esim"]["paper's F1"]) == ("0.3114", "0.86")
    assert rows["bm25"]["paper's log loss"] == ""
    assert (rows["siamese_conv"]["runs"], rows["siamese_conv"]["paper's R"]) == ("0", "0.88")
    assert set(comparison.PAPER) <= set(rows)


def test_no_intervals_where_the_pairs_hang_together():
    group = [0] * 150 + list(range(50))
    found = comparison.compare(together([replace(one, group=group) for one in RECORDS]))
    tables = comparison.tables(found, "esim")
    assert {row[3] for row in tables["scores"].rows} == {row[2] for row in tables["differences"].rows} == {""}
    assert any("151 of the 200" in note for note in tables["scores"].notes)


def test_the_report(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    paths = []
    for i, one in enumerate(RECORDS):
        paths.append(str(tmp_path / f"{i}.json"))
        one.write(tmp_path / f"{i}.json")
    command = ["match", "report", *paths, "-o", str(tmp_path / "out"), "--samples", "50"]
    assert main([*command, "--paper", "--against", "bm25"]) == 0
    names = {path.name for path in (tmp_path / "out").glob("[a-z]*")}
    assert names == {
        *(f"{name}.{suffix}" for name in ("scores", "differences") for suffix in ("md", "tex", "csv")),
        *(f"{name}.{suffix}" for name in ("log-loss", "reliability") for suffix in ("png", "pdf")),
    }
    shown = capsys.readouterr().out
    assert "| esim | 2 | 0." in shown
    assert "Log loss, less that of bm25" in shown
    for arguments, said in (
        ([*command, "--against", "x"], "--against 'x' is none of constant prior, esim, bm25"),
        ([*command[:-1], "0"], "--samples is 0: give a number from 1"),
    ):
        assert main(arguments) == 2
        assert said in capsys.readouterr().err
    replace(RECORDS[0], gold=None).write(tmp_path / "n.json")
    assert main(["match", "report", str(tmp_path / "n.json"), "-o", str(tmp_path / "out")]) == 2
    assert "have no labels" in capsys.readouterr().err
