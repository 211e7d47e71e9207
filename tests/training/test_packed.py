"""Weights of a model folder: what comes back, what is refused, and what a failure leaves."""

from __future__ import annotations

import argparse
import json
import resource
import sys

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from fairseq_xl.io.errors import InputError
from fairseq_xl.training import packed

CFG = {
    "model": argparse.Namespace(arch="lstm", sizes=[1, 2], inner=argparse.Namespace(x=None)),
    "task": {"_name": "translation", "rate": np.float32(0.5), "least": float("-inf")},
}


def checkpoint(**weights) -> dict:
    return {
        "cfg": CFG,
        "model": weights or {"w": torch.arange(6.0).reshape(2, 3)},
        "optimizer_history": [{"num_updates": 7, "optimizer_name": "Adam"}],
        "extra_state": {"fairseq_xl_words": {"source": 5}, "averaged": ["elsewhere/checkpoint1.pt"]},
        "last_optimizer_state": {"state": torch.ones(99)},
    }


def test_a_checkpoint_comes_back_without_what_only_training_needs(tmp_path):
    path = tmp_path / "m.safetensors"
    packed.write(path, checkpoint())
    found = packed.read(path)
    assert found["cfg"]["model"] == CFG["model"]
    assert found["cfg"]["task"] == {"_name": "translation", "rate": 0.5, "least": float("-inf")}
    assert torch.equal(found["model"]["w"], torch.arange(6.0).reshape(2, 3))
    assert found["optimizer_history"] == [{"num_updates": 7}]
    assert found["task_state"] == {"fairseq_xl_words": {"source": 5}}
    assert b"elsewhere" not in path.read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["m.safetensors"]


@pytest.mark.parametrize("kind", [torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.bool])
def test_weights_keep_their_types_and_shapes(tmp_path, kind):
    weights = {
        "scalar": torch.ones((), dtype=kind),
        "none": torch.ones((0, 3), dtype=kind),
        "turned": torch.arange(6).reshape(2, 3).to(kind).T,
    }
    packed.write(tmp_path / "m.safetensors", checkpoint(**weights))
    found = packed.read(tmp_path / "m.safetensors")["model"]
    for name, weight in weights.items():
        assert found[name].dtype == kind
        assert torch.equal(found[name], weight)


def test_the_file_is_for_whomever_a_new_file_is_for(tmp_path):
    (tmp_path / "new").touch()
    packed.write(tmp_path / "m.safetensors", checkpoint())
    assert (tmp_path / "m.safetensors").stat().st_mode == (tmp_path / "new").stat().st_mode


def test_tied_weights_are_stored_once_and_are_one_again(tmp_path):
    rows = torch.rand(4, 3)
    weights = {"in": rows, "out": rows, "turned": rows.T, "first": rows[:2], "other": rows.clone()}
    packed.write(tmp_path / "m.safetensors", checkpoint(**weights))
    assert load_file(tmp_path / "m.safetensors").keys() == {"in", "turned", "first", "other"}
    found = packed.read(tmp_path / "m.safetensors")["model"]
    assert found.keys() == weights.keys()
    assert all(torch.equal(found[name], weight) for name, weight in weights.items())
    assert found["in"].data_ptr() == found["out"].data_ptr()
    assert len({weight.data_ptr() for weight in found.values()}) == 4


def test_the_same_model_gives_the_same_bytes(tmp_path):
    weights = {f"w{i}": torch.full((i + 1,), float(i)) for i in range(20)}
    for name in ("a", "b"):
        packed.write(tmp_path / name, checkpoint(**weights))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def described(**values) -> str:
    return json.dumps({"cfg": {}, "task_state": {}, "updates": 0, "ties": {}, **values})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "is damaged, or no file of a packed model"),
        ("{", "is damaged"),
        ("[]", "is damaged"),
        ("[" * 100_000, "is damaged"),
        (described(ties={"out": "gone"}), "is damaged"),
        (described(ties={"out": ["w"]}), "is damaged"),
        (described(updates="7"), "is damaged"),
        (described(cfg=None), "is damaged"),
        (described(cfg={"model": 3}), "does not say how its model was configured"),
        (described(cfg={"task": {"data": "${oc.env:HOME}"}}), "its configuration asks for `${oc.env:HOME}`"),
    ],
)
def test_damaged_files_get_a_sentence(tmp_path, text, message):
    path = tmp_path / "m.safetensors"
    save_file({"w": torch.ones(2)}, path, None if text is None else {"fairseq_xl": text})
    with pytest.raises(InputError) as caught:
        packed.read(path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_other_files_get_a_sentence(tmp_path):
    path = tmp_path / "m.safetensors"
    with pytest.raises(InputError, match=r"cannot read .*m\.safetensors: No such file"):
        packed.read(path)
    for content in (b"", b"M", b"\xff" * 100):
        path.write_bytes(content)
        with pytest.raises(InputError, match="is damaged, or no file of a packed model"):
            packed.read(path)
    torch.save(checkpoint(), path)
    with pytest.raises(InputError, match="is damaged, or no file of a packed model"):
        packed.read(path)


def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch):
    """A limit on the size of files stands in for the disk."""
    path = tmp_path / "m.safetensors"
    path.write_bytes(b"old")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # no module is to be cut by the limit
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limit[1]))
    try:
        with pytest.raises(InputError, match=r"cannot write .*File too large"):
            packed.write(path, {"cfg": {}, "model": {"w": torch.ones(99_999)}})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert path.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["m.safetensors"]
