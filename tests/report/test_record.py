from __future__ import annotations

import json
import re
import subprocess

import pytest

from fairseq_xl.cli.main import main
from fairseq_xl.io.errors import InputError
from fairseq_xl.report import record
from fairseq_xl.report.record import write_record

LOG = """2026-01-01 | INFO | fairseq_cli.train | {'_name': None, 'common': {'seed': 1}}
2026-01-01 | INFO | train_inner | {"epoch": 1, "update": 0.5, "loss": "9", "train_wall": "1", "num_updates": "3"}
2026-01-01 | INFO | train | {"epoch": 1, "train_loss": "5.5", "train_train_wall": "10", "train_num_updates": "7"}
2026-01-01 | INFO | valid | {"epoch": 1, "valid_loss": "4.5", "valid_accuracy": "20", "valid_num_updates": "7"}
2026-01-01 | INFO | valid | {"epoch": 2, "valid_loss": "9.5", "valid_num_updates": "13"}
2026-01-01 | INFO | train | {"epoch": 2, "train_loss": "4.0", "train_train_wall": "99", "train_num_updates": "13"}
2026-01-01 | INFO | valid | {"epoch": 2, "valid_loss": "3.5", "valid_accuracy": "40", "valid_num_updates": "14"}
2026-01-01 | INFO | train | {"epoch": 2, "train_loss": "3.9", "train_train_wall": "12", "train_num_updates": "14"}
2026-01-01 | INFO | valid | {"epoch": 3, "valid_loss": "3.0", "valid_num_updates": "15"}
"""
SCORES = [{"name": "BLEU", "score": 31.4, "signature": "nrefs:1|case:mixed", "verbose_score": "x"}]
VERBOSE = "72.8/54.0/41.5/32.2 (BP = 1.000 ratio = 1.049 hyp_len = 13592 ref_len = 12955)"


@pytest.fixture
def run(tmp_path, monkeypatch):
    folder = tmp_path / "run"
    (folder / "checkpoints").mkdir(parents=True)
    (folder / "checkpoints" / "checkpoint_best.pt").write_bytes(b"")
    (folder / "train.log").write_text(LOG)
    (folder / "train.command").write_text("fairseq-train x\n")
    for name in ("score.beam1.json", "test.2017.score.beam5.json"):
        (folder / name).write_text(json.dumps(SCORES))
    training = {"common": {"seed": 3, "cpu": True}, "model": {"dropout": 0.2}}
    monkeypatch.setattr(record, "read_training", lambda path: record.Training(training, 2, 14))
    return folder


def test_the_record_says_what_the_run_was(run):
    write_record(run, {"loss": "vmf", "note": "a=b"})
    found = json.loads((run / "record.json").read_text())
    assert found["name"] == "run"
    assert (found["loss"], found["note"]) == ("vmf", "a=b")
    assert found["scores"]["test"]["beam1"]["BLEU"] == {"score": 31.4, "signature": "nrefs:1|case:mixed"}
    assert found["scores"]["test.2017"]["beam5"]["BLEU"]["score"] == 31.4
    assert (found["seed"], found["epochs"], found["updates"]) == (3, 2, 14)
    assert found["best_valid"] == {"loss": 3.5, "accuracy": 40.0, "num_updates": 14.0}
    assert found["seconds_per_epoch"] == 11.0, "a repeated epoch counts as it ended"
    assert found["training_seconds"] == 22.0
    assert "targets_run" not in found
    assert found["device"].startswith("cpu: ")
    assert {"python", "torch", "numpy", "fairseq_xl"} <= set(found["versions"])
    assert found["training"]["model"]["dropout"] == 0.2
    assert found["command"] == "fairseq-train x"


def test_the_device_is_that_of_the_training(run):
    said = (
        "x | INFO | fairseq.utils | rank   0: capabilities =  9.0  ; total memory = 79.1 GB ; name = NVIDIA H100   \n"
    )
    (run / "train.log").write_text(said + LOG)
    assert record.make_record(run, {})["device"] == "cuda: NVIDIA H100"


def test_each_set_has_the_search_that_it_was_decoded_with(run):
    for name, search in (("score.beam1", "--lenpen 1"), ("test.2017.score.beam5", "--lenpen 2")):
        (run / f"{name}.search").write_text(search + "\n")
    found = record.make_record(run, {"search": "--lenpen 2"})
    assert (found["search"], found["other_searches"]) == ("--lenpen 1", {"test.2017": "--lenpen 2"})
    (run / "score.beam1.search").write_text("--lenpen 2\n")
    assert "other_searches" not in record.make_record(run, {"search": "--lenpen 2"})


def test_the_best_checkpoint_may_be_of_the_middle_of_an_epoch(run, monkeypatch):
    monkeypatch.setattr(record, "read_training", lambda path: record.Training({}, 2, 13))
    assert record.make_record(run, {})["best_valid"] == {"loss": 9.5, "num_updates": 13.0}


def test_what_is_no_run_is_refused(run, tmp_path):
    with pytest.raises(InputError, match=r"there is no folder"):
        write_record(tmp_path / "absent", {})
    (run / "score.beam1.json").write_text("torn")
    with pytest.raises(InputError, match=r"score\.beam1\.json is no JSON output of sacrebleu"):
        write_record(run, {})
    (run / "train.log").write_text("".join(line for line in LOG.splitlines(True) if "| train |" not in line))
    with pytest.raises(InputError, match=r"train\.log shows no finished epoch: train for one at least"):
        write_record(run, {})
    (run / "train.log").write_text("nothing\n")
    with pytest.raises(InputError, match="holds no training records"):
        write_record(run, {})
    (run / "train.log").unlink()
    with pytest.raises(InputError, match=r"there is no .*train\.log: .* is not the folder of a"):
        write_record(run, {})
    assert not (run / "record.json").exists()


def test_how_long_the_translations_are(run):
    (run / "score.beam1.json").write_text(json.dumps([{**SCORES[0], "verbose_score": VERBOSE}]))
    write_record(run, {})
    found = json.loads((run / "record.json").read_text())["scores"]
    assert found["test"]["beam1"]["BLEU"]["length_ratio"] == 1.049


def test_rare_words_are_on_record(run):
    for name, right in (("words.beam5", 3), ("test.2017.words.beam1", 4)):
        (run / f"{name}.json").write_text(json.dumps({"hyp.txt": {"0": {"words": 9, "right": right}}}))
    found = record.make_record(run, {})["word_recall"]
    assert found == {
        "test": {"beam5": {"0": {"words": 9, "right": 3}}},
        "test.2017": {"beam1": {"0": {"words": 9, "right": 4}}},
    }


def test_the_softmax_that_the_targets_come_from_has_its_time_beside(run, tmp_path):
    folder = tmp_path / "run.targets"
    folder.mkdir()
    (folder / "train.log").write_text(LOG.replace('"99"', '"40"').replace('"12"', '"30"'))
    assert main(["experiment", "record", str(run), "--targets-run", str(folder)]) == 0
    found = json.loads((run / "record.json").read_text())
    time = {"epochs": 2, "updates": 14, "seconds_per_epoch": 20.0, "training_seconds": 40.0}
    assert found["targets_run"] == time
    assert found["training_seconds"] == 22.0, "of the run's own epochs alone"
    (folder / "train.log").unlink()
    with pytest.raises(InputError, match=r"run\.targets/train\.log"):
        write_record(run, {}, targets_run=folder)


def test_two_sets_of_one_name(run):
    (run / "test.score.beam1.json").write_text(json.dumps(SCORES))
    with pytest.raises(InputError, match=r"test\.score\.beam1\.json cannot be told from"):
        write_record(run, {})


def test_the_repository_around_an_installed_package_is_another_one(tmp_path, monkeypatch):
    for words in (
        ["init", "-q"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"],
    ):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True)
    installed = tmp_path / "record.py"
    installed.touch()
    monkeypatch.setattr(record, "__file__", str(installed))
    assert record.commit() is None
    subprocess.run(["git", "-C", str(tmp_path), "add", "record.py"], check=True)
    assert re.fullmatch(r"[0-9a-f]{40}\+changes", str(record.commit()))
