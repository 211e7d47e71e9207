"""Finished runs as their folders show them."""

import json

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.report.runs import Finished, by_system, load_runs, translations


def test_a_run(make_run):
    make_run("vmf.seed2", bleu=31, seed=2)
    make_run("vmf.seed1", bleu=30)
    systems = {"vmf.seed2": ("vmf", 2), "missing": ("cosine", 1), "vmf.seed1": ("vmf", 1)}
    runs = translations(load_runs(make_run.out, systems, {"vmf.seed2": 100.0}))
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
    (run / "record.json").write_text("[]")
    with pytest.raises(InputError, match=r"record\.json is no record of a run"):
        load_runs(make_run.out, {"x": ("x", 1)}, {})


def test_the_record_of_another_recipe_is_no_damage(make_run):
    run = make_run("x")
    (run / "record.json").write_text('{"gold": [0, 1], "predicted": [1, 1]}')
    (found,) = load_runs(make_run.out, {"x": ("x", 1)}, {"x": 5.0})
    assert found == Finished(run, "x", 1, {"gold": [0, 1], "predicted": [1, 1]}, 5.0)


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"checkpoints": []}'])
def test_damaged_diagnostics(make_run, text):
    (make_run("x") / "diagnostics.json").write_text(text)
    (run,) = translations(load_runs(make_run.out, {"x": ("x", 1)}, {}))
    with pytest.raises(InputError, match=r"diagnostics\.json is no output of `fairseq-xl translate diagnose`"):
        assert run.diagnostics


def rename_scores(run, name):
    """As a recipe with --test or --replace-unk leaves it."""
    path = run / "record.json"
    record = json.loads(path.read_text())
    record["scores"] = {name: record["scores"]["test"]}
    path.write_text(json.dumps(record))
    for text in [*run.glob("hyp.beam*.txt"), run / "ref.txt", run / "src.txt"]:
        text.rename(run / f"{name}.{text.name}")


def test_scores_on_another_set(make_run):
    folder = make_run("a")
    (folder / "ref.txt").write_text("a dog\n" * 40)
    rename_scores(folder, "val")
    systems = {"a": ("a", 1), "b": ("b", 1)}
    (run,) = translations(load_runs(make_run.out, systems, {}))
    assert (run.scored, run.beams, run.score(5)) == ("val", [1, 5], 30.5)
    assert len(run.hypotheses(5)) == 40
    assert run.references() == ["a dog"] * 40
    (folder / "val.ref.txt").write_text("a dog\n")
    with pytest.raises(InputError, match=r"val\.hyp\.beam5\.txt has 40 lines and val\.ref\.txt 1: run the recipe"):
        run.hypotheses(5)
    with pytest.raises(InputError, match=r"val\.src\.txt has 40 lines and val\.ref\.txt 1: run the recipe"):
        run.sources()
    make_run("b", 20)
    assert [run.system for run in translations(load_runs(make_run.out, systems, {}))] == ["b"], (
        "the recipe's own test set first"
    )
    assert [run.system for run in translations(load_runs(make_run.out, systems, {}), "val")] == ["a"]
    with pytest.raises(InputError, match="--scores dev: no run was scored on that; there are val, test"):
        translations(load_runs(make_run.out, systems, {}), "dev")
    rename_scores(make_run.out / "runs" / "b", "test.unknown_by_lexicon")
    with pytest.raises(InputError, match=r"were scored on val, test\.unknown_by_lexicon: choose one"):
        translations(load_runs(make_run.out, systems, {}))
    (run,) = translations(load_runs(make_run.out, systems, {}), "test.unknown_by_lexicon")
    assert len(run.references()) == len(run.hypotheses(1)) == 40
