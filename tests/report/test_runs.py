"""Finished runs as their folders show them."""

import pytest

from fairseq_xl.errors import InputError
from fairseq_xl.report.runs import by_system, load_runs


def test_a_run(make_run):
    make_run("vmf.seed2", bleu=31, seed=2)
    make_run("vmf.seed1", bleu=30)
    systems = {"vmf.seed2": ("vmf", 2), "missing": ("cosine", 1), "vmf.seed1": ("vmf", 1)}
    runs = load_runs(make_run.out, systems, {"vmf.seed2": 100.0})
    assert [(run.system, run.seed, run.peak_MiB) for run in runs] == [("vmf", 2, 100.0), ("vmf", 1, None)]
    first = runs[0]
    assert first.beams == [1, 5]
    assert first.score(5) == 31.5
    assert first.signature(1, "chrF2").startswith("nrefs:1")
    assert first.parameters == (1234567, 1000000)
    assert first.diagnostics is None
    assert len(first.hypotheses(1)) == len(first.references()) == len(first.sources()) == 40
    assert first.sources()[0] == first.references()[0].upper()
    assert [run.seed for run in by_system(runs)["vmf"]] == [1, 2]
    with pytest.raises(InputError, match="no TER of beam 5"):
        first.score(5, "TER")


def test_nothing_finished(tmp_path):
    with pytest.raises(InputError, match="has finished yet"):
        load_runs(tmp_path, {"vmf.seed1": ("vmf", 1)}, {})


def test_damaged_record(make_run):
    run = make_run("x")
    (run / "record.json").write_text("{}")
    with pytest.raises(InputError, match=r"record\.json is not a run's record"):
        load_runs(make_run.out, {"x": ("x", 1)}, {})
