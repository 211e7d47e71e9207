"""Reading training logs, with what interruptions leave behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.report.training_log import read_training_log

CONFIGURATION = (
    "{'_name': None, 'common': {'_name': None, 'seed': 1}, 'task': {'_name': 'translation'}, "
    "'criterion': {'_name': '%s', 'margin': 0.5}, 'optimizer': {'_name': 'adam'}}"
)


def inner(epoch: int, progress: float, updates: int, loss: float) -> str:
    values = {"epoch": epoch, "update": progress, "loss": str(loss), "num_updates": str(updates)}
    return json.dumps(values)


def summary(kind: str, epoch: int, updates: int, **values: float) -> str:
    named = {f"{kind}_{name}": str(value) for name, value in values.items()}
    return json.dumps({"epoch": epoch, **named, f"{kind}_num_updates": str(updates)})


def epoch_lines(epoch: int, size: int = 10, **valid: float) -> list[str]:
    done = epoch * size
    return [
        inner(epoch, epoch - 0.5, done - size // 2, 5 / epoch),
        summary("train", epoch, done, loss=4 / epoch, accuracy="None"),
        summary("valid", epoch, done, loss=3 / epoch, **valid),
    ]


def log_file(path: Path, *lines: str, criterion: str = "vmf", torn: str = "") -> Path:
    whole = [CONFIGURATION % criterion, 'begin dry-run validation on "valid" subset', *lines]
    path.write_text("".join(f"{line}\n" for line in whole) + torn, encoding="utf-8")
    return path


def test_records_have_their_kind_their_place_and_plain_names(tmp_path: Path) -> None:
    path = log_file(tmp_path / "a.log", *epoch_lines(1, cosine=0.5), *epoch_lines(2, cosine=0.6))
    log = read_training_log(path)
    assert log.criterion == "vmf"
    assert [(r.kind, r.epoch, r.progress, r.updates) for r in log.records] == [
        ("train_inner", 1, 0.5, 5),
        ("train", 1, 1.0, 10),
        ("valid", 1, 1.0, 10),
        ("train_inner", 2, 1.5, 15),
        ("train", 2, 2.0, 20),
        ("valid", 2, 2.0, 20),
    ]
    assert log.of("valid")[1].values == {"loss": 1.5, "cosine": 0.6}
    assert log.of("train")[1].values == {"loss": 2.0}


def test_terminal_output_reads_like_a_log_file(tmp_path: Path) -> None:
    plain = log_file(tmp_path / "a.log", *epoch_lines(1, accuracy=12.0))
    stamp = "2024-05-06 07:08:09 | INFO | fairseq_cli.train | "
    stamped = tmp_path / "b.log"
    text = "".join(f"{stamp}{line}\n" for line in plain.read_text().splitlines())
    stamped.write_text("a warning that has no stamp\n" + text)
    assert read_training_log(stamped).records == read_training_log(plain).records


def test_lines_that_fairseq_wrote_more_than_once_count_once(tmp_path: Path) -> None:
    once = log_file(tmp_path / "a.log", *epoch_lines(1), *epoch_lines(2))
    second = [line for line in epoch_lines(2) for _ in range(2)]
    twice = log_file(tmp_path / "b.log", *epoch_lines(1), *second)
    assert read_training_log(twice).records == read_training_log(once).records


def test_a_resumed_run_replaces_what_was_logged_beyond_its_checkpoint(tmp_path: Path) -> None:
    lost = [inner(2, 1.5, 15, 9.0), inner(2, 1.7, 17, 9.0)]
    path = log_file(tmp_path / "a.log", *epoch_lines(1), *lost)
    again = log_file(tmp_path / "b.log", *epoch_lines(2))
    path.write_text(path.read_text() + again.read_text())
    expected = log_file(tmp_path / "c.log", *epoch_lines(1), *epoch_lines(2))
    assert read_training_log(path).records == read_training_log(expected).records


def test_a_fresh_run_in_the_same_file_replaces_the_old_one(tmp_path: Path) -> None:
    path = log_file(tmp_path / "a.log", *epoch_lines(1), *epoch_lines(2))
    fresh = log_file(tmp_path / "b.log", *epoch_lines(1, cosine=0.9), criterion="cosine")
    path.write_text(path.read_text() + fresh.read_text())
    log = read_training_log(path)
    assert log.records == read_training_log(fresh).records
    assert log.criterion == "cosine"


def test_a_run_that_was_resumed_and_logged_nothing_changes_nothing(tmp_path: Path) -> None:
    path = log_file(tmp_path / "a.log", *epoch_lines(1))
    before = read_training_log(path).records
    path.write_text(path.read_text() + CONFIGURATION % "vmf" + "\n")
    assert read_training_log(path).records == before


@pytest.mark.parametrize("cut", range(3, len(inner(2, 1.5, 15, 2.5)), 7))
def test_a_torn_last_line_is_passed_over_at_any_cut(tmp_path: Path, cut: int) -> None:
    whole = log_file(tmp_path / "a.log", *epoch_lines(1))
    torn = log_file(tmp_path / "b.log", *epoch_lines(1), torn=inner(2, 1.5, 15, 2.5)[:cut])
    assert read_training_log(torn).records == read_training_log(whole).records


@pytest.mark.parametrize("newline", ["", "\n"])
@pytest.mark.parametrize("stamp", ["", "2024-05-06 07:08:09 | INFO | fairseq_cli.train | "])
def test_a_torn_line_before_a_resumed_run_is_passed_over(tmp_path: Path, newline: str, stamp: str) -> None:
    torn = inner(2, 1.5, 15, 2.5)[:25] + newline
    path = log_file(tmp_path / "a.log", *epoch_lines(1), torn=torn)
    again = [CONFIGURATION % "vmf", *epoch_lines(2)]
    path.write_text(path.read_text() + "".join(f"{stamp}{line}\n" for line in again))
    assert [r.updates for r in read_training_log(path).records] == [5, 10, 10, 15, 20, 20]


def test_a_torn_line_elsewhere_is_refused_with_its_number(tmp_path: Path) -> None:
    lines = epoch_lines(1)
    lines[1] = lines[1][:20]
    path = log_file(tmp_path / "a.log", *lines)
    with pytest.raises(InputError, match=r"a\.log, line 4: this training record is cut short"):
        read_training_log(path)


def test_a_record_without_its_place_is_refused(tmp_path: Path) -> None:
    path = log_file(tmp_path / "a.log", *epoch_lines(1), '{"epoch": 2, "loss": "1.0"}')
    with pytest.raises(InputError, match=r"line 6: .*it says no num_updates"):
        read_training_log(path)


def test_files_without_records_say_why(tmp_path: Path) -> None:
    other = log_file(tmp_path / "a.log", "epoch 001 | loss 5.1 | ppl 30")
    with pytest.raises(InputError, match="not written with --log-format json"):
        read_training_log(other)
    (tmp_path / "b.log").write_text("nothing\n")
    with pytest.raises(InputError, match="is it the right file"):
        read_training_log(tmp_path / "b.log")
    with pytest.raises(InputError, match="there is no file"):
        read_training_log(tmp_path / "c.log")
