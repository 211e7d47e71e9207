import errno
import math
from pathlib import Path

import pytest
import torch

from fairseq_xl.cli import main as cli
from fairseq_xl.io.errors import InputError
from fairseq_xl.training import averaging, checkpoints


def write(path: Path, updates: int = 1, val_loss: float | None = None, maximize=False, **weights):
    model = {name: torch.as_tensor(value) for name, value in weights.items()}
    state = {
        "args": None,
        "cfg": {"checkpoint": {"maximize_best_checkpoint_metric": maximize}, "model": {}},
        "model": model,
        "optimizer_history": [{"num_updates": updates}],
        "last_optimizer_state": {"moments": torch.zeros(100)},
        "extra_state": {"val_loss": val_loss, "epoch": 1},
    }
    torch.save(state, path)
    return path


def test_mean_is_taken_in_float64_and_cast_back(tmp_path):
    # In float16 the running sum 2048 + 1 + 1 + 1 would stay 2048.
    values = [2048.0, 1.0, 1.0, 1.0]
    paths = [write(tmp_path / f"{i}.pt", w=torch.tensor([v], dtype=torch.float16)) for i, v in enumerate(values)]
    mean = averaging.average(paths)["model"]["w"]
    assert mean.dtype == torch.float16
    assert mean.item() == torch.tensor(sum(values) / 4).half().item() != 512.0


def test_frozen_table_stays_bit_for_bit_and_buffers_come_from_the_first(tmp_path):
    torch.manual_seed(0)
    table = torch.rand(50, 7, dtype=torch.float64)
    paths = [
        write(
            tmp_path / f"{i}.pt",
            w=torch.rand(3),
            table=table,
            banned=torch.tensor([True, False]),
            num_batches_tracked=torch.tensor(i + 5),
        )
        for i in range(3)
    ]
    model = averaging.average(paths)["model"]
    assert torch.equal(model["table"], table)
    assert model["num_batches_tracked"].item() == 5
    assert model["banned"].tolist() == [True, False]


def test_tied_weights_stay_tied(tmp_path):
    for i in range(2):
        tied = torch.rand(2000)
        write(tmp_path / f"{i}.pt", a=tied, b=tied)
    output = tmp_path / "out.pt"
    averaging.write_average([tmp_path / f"{i}.pt" for i in range(2)], output)
    model = checkpoints.read(output)["model"]
    assert model["a"].data_ptr() == model["b"].data_ptr()


def test_result_holds_no_optimiser_and_says_what_it_is_made_of(tmp_path):
    paths = [write(tmp_path / f"{i}.pt", w=torch.rand(3)) for i in range(2)]
    output = tmp_path / "new" / "out.pt"
    assert cli.main(["translate", "average", *map(str, paths), "--output", str(output)]) == 0
    state = checkpoints.read(output)
    assert "last_optimizer_state" not in state
    assert state["extra_state"]["averaged"] == [str(p) for p in paths]
    assert [p.name for p in output.parent.iterdir()] == ["out.pt"]


def test_last_takes_whole_epochs_newest_first(tmp_path):
    for name in ("checkpoint2", "checkpoint10", "checkpoint9", "checkpoint_9_100", "crash"):
        write(tmp_path / f"{name}.pt", w=1.0)
    chosen = averaging.choose(tmp_path, last=2)
    assert [p.name for p in chosen] == ["checkpoint10.pt", "checkpoint9.pt"]


@pytest.mark.parametrize(("maximize", "names"), [(False, [3, 1]), (True, [2, 4])])
def test_best_ranks_by_the_validation_metric_once_per_update(tmp_path, maximize, names):
    scores = {0: math.nan, 1: 2.0, 2: 9.0, 3: 1.0, 4: 5.0, 5: None}
    for epoch, score in scores.items():
        write(tmp_path / f"checkpoint{epoch}.pt", epoch * 10, score, maximize, w=1.0)
    best = 2 if maximize else 3
    write(tmp_path / "checkpoint_best.pt", best * 10, scores[best], maximize, w=1.0)
    write(tmp_path / "checkpoint_last.pt", 50, None, maximize, w=1.0)
    chosen = averaging.choose(tmp_path, best=2)
    assert [p.name for p in chosen] == [f"checkpoint{n}.pt" for n in names]


def test_mismatches_are_refused_by_name(tmp_path):
    good = write(tmp_path / "good.pt", w=torch.zeros(3), n=torch.tensor(1))
    cases = {
        "has no `n`": write(tmp_path / "a.pt", w=torch.zeros(3)),
        "has no `extra`": write(tmp_path / "b.pt", w=torch.zeros(3), n=torch.tensor(1), extra=torch.zeros(1)),
        r"`w` is \(4,\) float32": write(tmp_path / "c.pt", w=torch.zeros(4), n=torch.tensor(1)),
        r"`w` is \(3,\) float16": write(tmp_path / "d.pt", w=torch.zeros(3).half(), n=torch.tensor(1)),
        "`n` holds other whole numbers": write(tmp_path / "e.pt", w=torch.zeros(3), n=torch.tensor(2)),
        "NaN or infinity": write(tmp_path / "f.pt", w=torch.tensor([0.0, float("nan"), 0.0]), n=torch.tensor(1)),
    }
    for message, bad in cases.items():
        with pytest.raises(InputError, match=message):
            averaging.average([good, bad])


def test_failed_write_leaves_the_old_output(tmp_path, monkeypatch):
    paths = [write(tmp_path / f"{i}.pt", w=torch.rand(3)) for i in range(2)]
    output = tmp_path / "out.pt"
    output.write_bytes(b"old")

    def torn(state, file):
        file.write(b"half of it")
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(torch, "save", torn)
    with pytest.raises(InputError, match=r"cannot write .*no space"):
        averaging.write_average(paths, output)
    assert output.read_bytes() == b"old"
    assert not list(tmp_path.glob("*.tmp"))


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["{}", "--last", "0"], "--last is 0: give a number from 1"),
        (["{}", "--last", "3"], "holds 1 checkpoints of whole epochs, not 3"),
        (["{}", "--best", "3"], "holds 0 checkpoints that were validated, not 3"),
        (["{}/none", "--last", "1"], "is not a folder"),
        (["{}", "{}", "--last", "1"], "choose among the checkpoints of one folder"),
        (["{}/none.pt"], "does not exist"),
        (["{}"], "is a folder: give a file of fairseq-train"),
    ],
)
def test_wrong_requests_get_one_sentence(tmp_path, capsys, argv, message):
    write(tmp_path / "checkpoint1.pt", w=1.0)
    argv = [word.format(tmp_path) for word in argv]
    assert cli.main(["translate", "average", *argv, "--output", str(tmp_path / "out.pt")]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out.pt").exists()
