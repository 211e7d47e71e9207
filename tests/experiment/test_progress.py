"""What is said of an experiment while it runs: times, and how far a run is."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairseq_xl.experiment.progress import minutes, position


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.4, "0 s"), (89, "89 s"), (90, "2 min"), (89 * 60, "89 min"), (125 * 60, "2 h 05 min")]
)
def test_times_as_people_say_them(seconds: float, said: str) -> None:
    assert minutes(seconds) == said


def test_a_run_is_where_the_last_whole_line_of_its_log_says(tmp_path: Path) -> None:
    assert position(tmp_path) == "preparing"
    log = tmp_path / "train.log"
    log.write_text("2026-01-01 | INFO | begin training\n")
    assert position(tmp_path) == "starting"
    log.write_text('x {"epoch": 1, "update": 0.5, "loss": 3}\nx {"epoch": 2, "valid_loss": "2.5"}\nx {"epoch": 3,}\n')
    assert position(tmp_path) == "epoch 2.0, loss 2.5"
