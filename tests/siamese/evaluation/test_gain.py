"""Gains of one system over another, language by language and in the mean."""

from __future__ import annotations

import json

import markdown_tables
import numpy as np
import pytest
from siamese_records import GOLD, record, write

from fairseq_xl.cli.main import main
from fairseq_xl.siamese.evaluation import gain


def of(language, name, wrong):
    return {**record(name, wrong), "languages": {"low": language, "high": "en"}}


def test_gains_over_languages(tmp_path, capsys):
    made = [
        of("te", "SSC(te-en)", 10),
        of("te", "SSC(te-en)", 12),
        of("te", "SSC(te-te)", 30),
        of("te", "SVM", 2),
        of("es", "SSC(es-en)", 40),
        of("es", "SSC(es-es)", 20),
        of("de", "SSC(de-en)", 1),
    ]
    paths = write(tmp_path, made)
    out = tmp_path / "gain.md"
    assert main(["classify", "gain", *paths, "--samples", "100", "-o", str(out)]) == 0
    rows = markdown_tables.rows(out.read_text())[2:]
    assert [row[:6] for row in rows] == [
        ["te", "100", "2, 1", "89.0", "70.0", "+19.0"],
        ["es", "100", "1, 1", "60.0", "80.0", "-20.0"],
        ["mean", "", "", "", "", "-0.5"],
    ]
    low, high = (float(end) for end in rows[0][6].split(" to "))
    assert 5 < low < 19 < high < 35
    low, high = (float(end) for end in rows[2][6].split(" to "))
    assert low < 0 < high
    assert main(["classify", "gain", *paths, "--over", "SVM ({high})"]) == 2
    assert "no language has records of both 'SSC({low}-{high})' and 'SVM ({high})'" in capsys.readouterr().err
    for step in (["gain"], ["report", "-o", str(tmp_path / "out")]):
        assert main(["classify", *step, *paths[:2], "--samples", "0"]) == 2
        assert "--samples is 0: give a number from 1" in capsys.readouterr().err
    other = {**of("te", "SSC(te-fr)", 10), "languages": {"low": "te", "high": "fr"}}
    (tmp_path / "other.json").write_text(json.dumps(other))
    assert main(["classify", "gain", *paths, str(tmp_path / "other.json")]) == 2
    assert "the records in te are of 'SSC(te-en)' and 'SSC(te-fr)', which are several" in capsys.readouterr().err
    (tmp_path / "2.json").write_text(json.dumps({**made[2], "gold": GOLD[::-1]}))
    assert main(["classify", "gain", *paths]) == 2
    assert "the records of te are of different test sets" in capsys.readouterr().err


def test_an_interval_is_of_95_per_cent():
    assert gain._interval(np.linspace(-100, 100, 2001)) == "-95.0 to +95.0"


def test_the_mean_of_languages_is_surer_than_each():
    """The same records for two languages: draws that are independent have √2 times less spread together."""
    made = []
    for language in ("te", "es"):
        made += [of(language, f"SSC({language}-en)", 20), of(language, f"SSC({language}-{language})", 40)]
    rows = gain.gains(made, "SSC({low}-{high})", "SSC({low}-{low})", 4000).rows
    widths = [float(high) - float(low) for low, high in (row[-1].split(" to ") for row in rows)]
    assert widths[0] == widths[1]
    assert widths[0] / widths[2] == pytest.approx(2**0.5, rel=0.06)
