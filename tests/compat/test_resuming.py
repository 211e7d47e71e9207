"""A training that is killed and resumed ends where an uninterrupted one does."""

import os
import time
from pathlib import Path

import pytest
import random_vectors
import torch

from fairseq_xl.io.errors import InputError
from fairseq_xl.training import checkpoints
from fairseq_xl.vectors.dictionary import read_dictionary

pytestmark = pytest.mark.slow

# Dropout, shuffling, a warm-up and two batches an update: all that could go astray.
TRAINING = (
    "--optimizer adam --lr 0.01 --lr-scheduler inverse_sqrt --warmup-updates 4 --dropout 0.3 "
    "--batch-size 5 --required-batch-size-multiple 1 --update-freq 2 --max-epoch 3 "
    "--save-interval-updates 4 --num-workers 0 --seed 7 --no-progress-bar "
)
# Too small a step for any epoch to be better than the first.
NO_PROGRESS = "--optimizer sgd --batch-size 30 --required-batch-size-multiple 1 --num-workers 0 --seed 1 "


def final_state(folder: Path) -> dict:
    return checkpoints.read(folder / "checkpoint_last.pt")


def assert_same_training(one: dict, other: dict) -> None:
    """Weights, optimiser and place in the data are equal to the bit."""
    assert checkpoints.updates(one) == checkpoints.updates(other) > 0
    assert one["model"].keys() == other["model"].keys()
    for name, tensor in one["model"].items():
        assert torch.equal(tensor, other["model"][name]), name
    moments = [state["last_optimizer_state"]["state"] for state in (one, other)]
    assert moments[0].keys() == moments[1].keys()
    for key, values in moments[0].items():
        for name, value in values.items():
            assert torch.equal(torch.as_tensor(value), torch.as_tensor(moments[1][key][name]))
    places = [state["extra_state"]["train_iterator"] for state in (one, other)]
    assert places[0] == places[1]
    schedules = [state["optimizer_history"][-1]["lr_scheduler_state"] for state in (one, other)]
    assert schedules[0] == schedules[1]


def wait_and_kill(child, path: Path) -> None:
    """Kill a training in mid-epoch, some time after it has written a checkpoint."""
    deadline = time.monotonic() + 600
    while not path.exists():
        assert child.is_alive(), f"training ended before it wrote {path.name}"
        assert time.monotonic() < deadline, f"no {path.name}"
        time.sleep(0.001)
    time.sleep(0.02)
    child.kill()
    child.join()
    assert child.exitcode == -9


def finish(child) -> None:
    child.join()
    assert child.exitcode == 0


def options_of(model: str, corpus: Path, tiny_lstm: str, folder: Path) -> str:
    if model == "lstm":
        return tiny_lstm
    vectors = random_vectors.write(folder / "vectors.vec", read_dictionary(corpus / "dict.en.txt"), 16)
    return f"--arch continuous_lstm_tiny --criterion syn_margin_proj --target-vectors {vectors} "


@pytest.mark.parametrize(
    ("model", "optimizer"), [("lstm", "adam"), ("continuous", "adam"), ("continuous", "fused_adam")]
)
def test_killed_training_ends_where_an_uninterrupted_one_does(start, corpus, tiny_lstm, tmp_path, model, optimizer):
    training = TRAINING.replace("adam", optimizer)
    line = f"{corpus} {options_of(model, corpus, tiny_lstm, tmp_path)} {training} --save-dir "
    finish(start("train", line + str(tmp_path / "whole")))
    whole = final_state(tmp_path / "whole")
    assert checkpoints.updates(whole) == 27

    killed = tmp_path / "killed"
    wait_and_kill(start("train", line + str(killed)), killed / "checkpoint_1_4.pt")
    assert not (killed / "checkpoint3.pt").exists()
    # A second kill, while a checkpoint is being written, which leaves this.
    wait_and_kill(start("train", line + str(killed)), killed / "checkpoint_2_16.pt")
    last = killed / "checkpoint_last.pt"
    os.truncate(last, last.stat().st_size // 2)
    (killed / f".checkpoint_2_20.pt.{'0' * 12}.tmp").write_bytes(b"half of a checkpoint")
    finish(start("train", line + str(killed)))

    assert_same_training(whole, final_state(killed))
    assert not list(killed.glob("*.tmp"))


def test_falling_back_is_announced(command, corpus, tiny_lstm, tmp_path, caplog):
    line = f"{corpus} {tiny_lstm} {TRAINING} --save-dir {tmp_path} --max-update "
    command("train", line + "6")
    last = tmp_path / "checkpoint_last.pt"
    os.truncate(last, 1000)
    command("train", line + "8")
    warnings = [r.getMessage() for r in caplog.records if r.levelname == "WARNING"]
    assert any(str(last) in text and "going on from" in text for text in warnings)


def run_in_parts(start, line: str, folder: Path, epochs: int) -> dict:
    """Train in as many processes as epochs."""
    for epoch in range(1, epochs + 1):
        finish(start("train", f"{line} --save-dir {folder} --max-epoch {epoch}"))
    return final_state(folder)


def test_what_is_not_there_is_not_restored(fairseq_train, corpus, tiny_lstm, tmp_path):
    line = f"{corpus} {tiny_lstm} {NO_PROGRESS} --max-update 1 --cpu --save-dir {tmp_path / 'run'}"
    with pytest.raises(InputError, match=r"--restore-file \S+/other/checkpoint_last\.pt: there is no such file"):
        fairseq_train(f"{line} --restore-file {tmp_path}/other/checkpoint_last.pt")
    with pytest.raises(InputError, match=r"--continue-once \S+/other\.pt: there is no such file"):
        fairseq_train(f"{line} --continue-once {tmp_path}/other.pt")
    own = tmp_path / "run" / "checkpoint_last.pt"
    assert not own.exists()
    fairseq_train(f"{line} --restore-file {own}")
    assert checkpoints.updates(final_state(tmp_path / "run")) == 1
    fairseq_train(f"{line} --restore-file {own} --max-update 2")
    assert checkpoints.updates(final_state(tmp_path / "run")) == 2


def test_the_plateau_scheduler_remembers(start, corpus, tiny_lstm, tmp_path):
    line = (
        f"{corpus} {tiny_lstm} {NO_PROGRESS} --lr 1e-6 --lr-scheduler reduce_lr_on_plateau "
        "--lr-patience 1 --lr-shrink 0.5"
    )
    finish(start("train", f"{line} --save-dir {tmp_path / 'whole'} --max-epoch 6"))
    whole = final_state(tmp_path / "whole")
    rate = whole["last_optimizer_state"]["param_groups"][0]["lr"]
    assert rate == 0.25e-6  # lowered after the epochs 3 and 5
    parts = run_in_parts(start, line, tmp_path / "parts", 6)
    assert parts["last_optimizer_state"]["param_groups"][0]["lr"] == rate
    for name, tensor in whole["model"].items():
        assert torch.equal(tensor, parts["model"][name]), name


def test_patience_is_counted_across_a_resume(start, corpus, tiny_lstm, tmp_path):
    line = f"{corpus} {tiny_lstm} {NO_PROGRESS} --lr 1e-30 --patience 3"
    finish(start("train", f"{line} --save-dir {tmp_path / 'whole'} --max-epoch 9"))
    finish(start("train", f"{line} --save-dir {tmp_path / 'parts'} --max-epoch 3"))
    finish(start("train", f"{line} --save-dir {tmp_path / 'parts'} --max-epoch 9"))
    counts = [checkpoints.updates(final_state(tmp_path / part)) for part in ("whole", "parts")]
    assert counts == [12, 12]  # the first epoch, and three without improvement
    tuned = f"{line} --finetune-from-model {tmp_path / 'parts' / 'checkpoint_last.pt'} --save-dir {tmp_path / 'tuned'}"
    finish(start("train", f"{tuned} --max-epoch 9"))
    assert checkpoints.updates(final_state(tmp_path / "tuned")) == 12  # it counts from the beginning
