"""Loading and writing checkpoints: nothing in them runs, nothing is left torn, and errors are
sentences."""

import argparse
import builtins
import errno
import io
import os
import pickle
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from types import SimpleNamespace

import forked
import numpy as np
import pytest
import torch
from fairseq import checkpoint_utils
from fairseq.file_io import PathManager
from fairseq.models.lstm import LSTMModel
from fairseq.trainer import Trainer

from fairseq_xl import SentenceEncoder, compat
from fairseq_xl.compat import patching, resuming
from fairseq_xl.io.errors import InputError
from fairseq_xl.training import checkpoints


class RunsCode:
    """Unpickled anywhere, it makes a file."""

    def __init__(self, victim: Path):
        self.victim = victim

    def __reduce__(self):
        return (os.mkdir, (str(self.victim),))


def state(updates: int = 1) -> dict:
    return {
        "args": None,
        "cfg": {"model": argparse.Namespace(arch="lstm"), "task": {}},
        "model": {"w": torch.arange(1000.0)},
        "optimizer_history": [{"num_updates": updates, "optimizer_name": "adam", "lr_scheduler_state": {"best": None}}],
        "extra_state": {
            "train_iterator": {"epoch": 1},
            "bleu": np.float64(3.5),
            "counts": np.array([1, 2, 3]),
            "n": np.int32(7),
        },
    }


def save(path: Path, content: object, old_format: bool = False) -> Path:
    torch.save(content, path, _use_new_zipfile_serialization=not old_format)
    return path


@pytest.mark.parametrize("old_format", [False, True])
def test_what_fairseq_writes_is_read_with_weights_only(tmp_path, old_format, monkeypatch):
    path = save(tmp_path / "checkpoint1.pt", state(), old_format)
    asked: list[object] = []
    stock = torch.load

    def watch(*args, **kwargs):
        asked.append(kwargs.get("weights_only"))
        return stock(*args, **kwargs)

    monkeypatch.setattr(torch, "load", watch)
    loaded = checkpoint_utils.load_checkpoint_to_cpu(str(path))
    assert asked in ([None], [True])  # never switched off
    assert loaded["cfg"].model.arch == "lstm"
    assert loaded["extra_state"]["bleu"] == 3.5
    assert loaded["extra_state"]["counts"].tolist() == [1, 2, 3]
    assert torch.equal(loaded["model"]["w"], torch.arange(1000.0))


def test_numpy_1_names_are_known(tmp_path):
    path = save(tmp_path / "a.pt", state(), old_format=True)
    old = path.read_bytes().replace(b"numpy._core.multiarray", b"numpy.core.multiarray")
    assert old != path.read_bytes()
    path.write_bytes(old)
    assert checkpoints.read(path)["extra_state"]["counts"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("form", ["new", "old", "bare"])
def test_a_pickle_that_runs_code_is_refused_by_name_and_not_run(tmp_path, form):
    victim = tmp_path / "victim"
    path = tmp_path / "checkpoint_best.pt"
    if form == "bare":
        path.write_bytes(pickle.dumps(RunsCode(victim), protocol=2))
    else:
        save(path, {**state(), "payload": RunsCode(victim)}, old_format=form == "old")
    for load in (checkpoint_utils.load_checkpoint_to_cpu, checkpoints.read):
        with pytest.raises(InputError) as caught:
            load(str(path))
        message = str(caught.value)
        assert str(path) in message
        assert f"`{os.mkdir.__module__}.mkdir`" in message
        assert "\n" not in message
    assert not victim.exists()
    # The test can fail: loaded without the guard, it does run.
    torch.load(path, weights_only=False) if form != "bare" else pickle.loads(path.read_bytes())
    assert victim.exists()


def broken_files(folder: Path) -> dict[str, Path]:
    whole = save(folder / "whole.pt", state()).read_bytes()
    old = save(folder / "old.pt", state(), old_format=True).read_bytes()
    contents = {
        "is torn": whole[: len(whole) // 2],
        "is torn or": whole[: len(whole) // 2] + bytes(len(whole) - len(whole) // 2),
        "is torn or is no": old[:300],
        "is torn or is no checkpoint": b"Ein Mann schl\xc3\xa4ft .\n" * 50,
        "is empty": b"",
    }
    paths = {}
    for number, (message, content) in enumerate(contents.items()):
        paths[message] = folder / f"broken{number}.pt"
        paths[message].write_bytes(content)
    with zipfile.ZipFile(folder / "other.zip", "w") as archive:
        archive.writestr("a", "b")
    paths["is torn or is no checkpoint at all"] = folder / "other.zip"
    paths["no entry `model`"] = save(folder / "list.pt", [1])
    paths["no entry `cfg` or `args`"] = save(folder / "weights.pt", {"model": {}})
    paths["does not exist"] = folder / "absent.pt"
    paths["is a folder: give a file of fairseq-train"] = folder
    return paths


def test_unusable_checkpoints_get_one_sentence(tmp_path):
    for message, path in broken_files(tmp_path).items():
        with pytest.raises(InputError) as caught:
            checkpoint_utils.load_checkpoint_to_cpu(str(path))
        assert message in str(caught.value)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"model": [1]}, "holds no weights under `model`"),
        ({"model": {"w": "text"}}, "holds no weights under `model`"),
        ({"cfg": None}, "does not say how its model was configured"),
        ({"cfg": [1]}, "does not say how its model was configured"),
        ({"cfg": {"model": "lstm", "task": {}}}, "does not say how its model was configured"),
        ({"cfg": None, "args": {"arch": "lstm"}}, "does not say how its model was configured"),
        ({"extra_state": [1]}, "has a damaged entry `extra_state`"),
        ({"optimizer_history": {"a": 1}}, "has a damaged entry `optimizer_history`"),
    ],
    ids=str,
)
def test_what_is_not_as_fairseq_writes_it_gets_one_sentence(tmp_path, changed, message):
    path = save(tmp_path / "odd.pt", {**state(), **changed})
    with pytest.raises(InputError, match=message):
        checkpoints.read(path)
    for module, *words in (
        ("fairseq_xl.cli.main", "translate", "average", path, path, "--output", tmp_path / "mean.pt"),
        ("fairseq_xl.cli.main", "embed", "pack", path, "--output", tmp_path / "encoder"),
    ):
        done = forked.run(module, *words)
        assert done.returncode == 2, done.stderr
        assert f"{path} {message}" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"task": {}}, "names no task"),
        ({"model": {"dropout": 1}}, "names no model"),
        ({"task": {"_name": "mine"}}, "was trained with --task mine, which is not registered"),
        ({"model": {"_name": "mine"}}, "was trained with --arch mine, which is not registered"),
    ],
    ids=str,
)
def test_a_checkpoint_without_known_names(tmp_path, section, message):
    named = {"model": {"_name": "lstm"}, "task": {"_name": "translation", "data": str(tmp_path)}}
    path = save(tmp_path / "odd.pt", {**state(), "cfg": {**named, **section}})
    with pytest.raises(InputError, match=message):
        checkpoint_utils.load_model_ensemble_and_task([str(path)])
    with pytest.raises(InputError, match=message):
        SentenceEncoder.load(path, "cpu")


def test_damage_that_only_fairseq_meets_gets_one_sentence(tmp_path):
    configured = {"model": {"_name": "lstm"}, "task": {"_name": "translation", "data": str(tmp_path)}}
    lacking = save(tmp_path / "lacking.pt", {**state(), "cfg": {**configured, "generation": {}}})
    torn = save(tmp_path / "torn.pt", {**state(), "cfg": configured})
    content = torn.read_bytes()
    header = content.rindex(b"PK\x03\x04", 0, content.index(b"torn/data/0"))  # not looked at where a file is mapped
    torn.write_bytes(content[:header] + b"QK" + content[header + 2 :])
    assert checkpoints.why_file_refused(torn) is None
    for path in (lacking, torn):
        with pytest.raises(InputError, match=f"{path} is torn or"):
            checkpoint_utils.load_checkpoint_to_cpu(str(path))


@pytest.mark.parametrize("load", [checkpoints.read, checkpoint_utils.load_checkpoint_to_cpu])
def test_a_flipped_bit_among_the_settings_is_noticed_at_once(tmp_path, load):
    path = save(tmp_path / "checkpoint1.pt", state())
    load(str(path))
    path.write_bytes(path.read_bytes().replace(b"lstm", b"lstn", 1))
    with pytest.raises(InputError, match=r"checkpoint1\.pt is torn or"):
        load(str(path))


def test_a_history_of_something_else_counts_no_updates():
    assert checkpoints.updates({"optimizer_history": [3]}) == 0


def test_a_missing_model_gets_one_sentence(tmp_path):
    with pytest.raises(InputError, match=r"no checkpoint .*/checkpoint_bets\.pt; training writes"):
        checkpoint_utils.load_model_ensemble_and_task([str(tmp_path / "checkpoint_bets.pt")])


def test_what_a_model_says_about_its_checkpoint_is_heard(tmp_path, command, corpus, tiny_lstm):
    line = (
        f"{corpus} {tiny_lstm} --optimizer adam --lr 0.01 --batch-size 40 --num-workers 0 "
        f"--save-dir {tmp_path} --max-update "
    )
    command("train", line + "1")

    def refuse(self, *args, **kwargs):
        raise InputError("the table is made for another dictionary")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LSTMModel, "load_state_dict", refuse)
        with pytest.raises(InputError, match="the table is made for another"):
            command("train", line + "2")


def test_errors_that_are_not_the_files_fault_pass_through(tmp_path):
    path = save(tmp_path / "checkpoint1.pt", state())
    with pytest.raises(AttributeError):  # a mistake of the caller
        checkpoint_utils.load_checkpoint_to_cpu(str(path), arg_overrides=["not", "a", "dict"])


def test_a_flipped_bit_is_noticed(tmp_path):
    path = save(tmp_path / "checkpoint1.pt", state())
    assert checkpoints.is_intact(path)
    content = bytearray(path.read_bytes())
    place = content.find(torch.arange(1000.0).numpy().tobytes())
    content[place + 40] ^= 1
    path.write_bytes(content)
    assert checkpoints.why_file_refused(path) is None  # it loads, with a wrong weight
    assert not checkpoints.is_intact(path)


def test_saving_and_copying_leave_the_old_file_when_they_fail(tmp_path, monkeypatch):
    path = tmp_path / "checkpoint_last.pt"
    path.write_bytes(b"old")

    def half(content, file):
        file.write(b"half")
        raise RuntimeError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(torch, "save", half)
        with pytest.raises(RuntimeError, match="disk full"):
            checkpoint_utils.torch_persistent_save(state(), str(path))
    with pytest.raises(FileNotFoundError):
        PathManager.copy(str(tmp_path / "absent.pt"), str(path), overwrite=True)
    assert path.read_bytes() == b"old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["checkpoint_last.pt"]
    source = save(tmp_path / "checkpoint1.pt", state())
    assert PathManager.copy(str(source), str(path), overwrite=True)
    assert path.read_bytes() == source.read_bytes()


WRITE_FOR_EVER = """
import sys
from fairseq_xl.io.atomic import atomic_binary
print("ready", flush=True)
while True:
    for content in b"ab":
        with atomic_binary(sys.argv[1]) as file:
            file.write(bytes([content]) * (1 << 24))
"""


@pytest.mark.slow
def test_a_kill_during_a_write_leaves_a_whole_file(tmp_path):
    target = tmp_path / "checkpoint_last.pt"
    contents = [letter * (1 << 24) for letter in (b"a", b"b")]
    target.write_bytes(contents[0])
    root = Path(compat.__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", WRITE_FOR_EVER, str(target)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(root)},
    ) as process:
        assert process.stdout.readline()  # it is at work
        interrupted = 0
        for _ in range(200):
            os.kill(process.pid, signal.SIGSTOP)  # a kill at this moment would leave this
            assert target.read_bytes() in contents
            interrupted += any(tmp_path.glob(".checkpoint_last.pt.*.tmp"))
            os.kill(process.pid, signal.SIGCONT)
            if interrupted >= 20:
                break
            time.sleep(0.01)
        process.kill()
    assert interrupted  # or the test has seen nothing
    assert target.read_bytes() in contents


def test_the_newest_intact_checkpoint_is_found(tmp_path):
    for name, updates in {
        "checkpoint1": 10,
        "checkpoint_2_15": 15,
        "checkpoint_best": 10,
        "checkpoint_2_20": 20,
        "crash": 99,
        "averaged": 99,
    }.items():
        save(tmp_path / f"{name}.pt", state(updates))
    assert resuming.newest_intact(tmp_path).name == "checkpoint_2_20.pt"
    torn = tmp_path / "checkpoint_2_20.pt"
    torn.write_bytes(torn.read_bytes()[:1000])
    assert resuming.newest_intact(tmp_path).name == "checkpoint_2_15.pt"
    for path in tmp_path.glob("checkpoint*"):
        path.write_bytes(b"")
    with pytest.raises(InputError, match=r"no other intact checkpoint.*--restore-file"):
        resuming.newest_intact(tmp_path)


def refuse_to_open(monkeypatch, path: Path, errno: int) -> None:
    """As a file without permission, or on a disk that fails; permissions stop no root."""
    opened = builtins.open

    def refuse(file, *args, **kwargs):
        if str(file) == str(path):
            raise OSError(errno, os.strerror(errno), str(file))
        return opened(file, *args, **kwargs)

    for module in (builtins, io):
        monkeypatch.setattr(module, "open", refuse)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.EMFILE])
def test_what_cannot_be_read_is_not_called_torn(tmp_path, monkeypatch, number):
    last = save(tmp_path / "checkpoint_last.pt", state(20))
    save(tmp_path / "checkpoint1.pt", state(10))
    refuse_to_open(monkeypatch, last, number)
    sentence = f"cannot read the checkpoint {last}: {os.strerror(number)}"
    trainer = SimpleNamespace(checkpoint_suffix="", data_parallel_world_size=1)
    for read in (
        *(
            checkpoints.why_file_refused,
            checkpoints.is_intact,
            checkpoints.read,
            checkpoint_utils.load_checkpoint_to_cpu,
        ),
        lambda path: Trainer.load_checkpoint(trainer, str(path)),
    ):
        with pytest.raises(InputError) as caught:
            read(last)
        assert str(caught.value) == sentence


@pytest.mark.parametrize("what", ["a folder", "a link to nothing", "not a file"])
def test_what_stands_in_a_checkpoints_place_is_not_begun_afresh(tmp_path, what):
    last = tmp_path / "checkpoint_last.pt"
    {
        "a folder": last.mkdir,
        "a link to nothing": lambda: last.symlink_to(tmp_path / "unmounted" / "checkpoint_last.pt"),
        "not a file": lambda: os.mkfifo(last),
    }[what]()
    with pytest.raises(InputError, match=f"{last} is {what}: put the checkpoint there"):
        Trainer.load_checkpoint(SimpleNamespace(checkpoint_suffix=""), str(last))


def test_applying_twice_wraps_once():
    before = (
        checkpoint_utils.load_checkpoint_to_cpu,
        checkpoint_utils.torch_persistent_save,
        PathManager.copy,
        Trainer.load_checkpoint,
        Trainer.train_step,
    )
    compat.apply()
    after = (
        checkpoint_utils.load_checkpoint_to_cpu,
        checkpoint_utils.torch_persistent_save,
        PathManager.copy,
        Trainer.load_checkpoint,
        Trainer.train_step,
    )
    assert before == after
    assert patching.stock(Trainer.train_step).__module__ == "fairseq.trainer"
