"""Training by eole's trainer: every loss learns, checkpoints come back, mistakes are sentences."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

pytest.importorskip("eole", reason="eole is not installed: FAIRSEQ_XL_EOLE=1 bash scripts/test.sh makes it a place")

from safetensors.torch import load_file

from fairseq_xl.eole.losses import LOSSES
from fairseq_xl.eole.prediction import predict
from fairseq_xl.eole.training import train
from fairseq_xl.io.errors import InputError


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


@pytest.mark.parametrize("beam", [1, 5])
def test_a_trained_model_translates(trained: Path, toy: Path, tmp_path: Path, beam: int) -> None:
    predict(trained, toy / "test.src", tmp_path / "out", {"beam_size": beam}, {})
    found, wanted = lines(tmp_path / "out"), lines(toy / "test.tgt")
    assert len(found) == len(wanted)
    right = [a == b for line, other in zip(found, wanted, strict=True) for a, b in zip(line.split(), other.split())]
    assert sum(right) / len(right) > 0.8


def test_show(trained):
    print(sorted(p.name for p in trained.iterdir()))
    print({k: v.shape for k, v in load_file(trained / "model.00.safetensors").items()})
    print((trained / "continuous.json").read_text())
