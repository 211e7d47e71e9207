"""Training by eole's trainer: every loss learns, checkpoints come back, mistakes are sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

pytest.importorskip("eole", reason="eole is not installed: FAIRSEQ_XL_EOLE=1 bash scripts/test.sh makes it a place")

from safetensors.torch import load_file

from fairseq_xl.eole.model import INPUT
from fairseq_xl.eole.prediction import engine_of, predict
from fairseq_xl.eole.training import train
from fairseq_xl.io.errors import InputError
from fairseq_xl.losses import LOSSES

SETTINGS: dict[str, dict[str, Any]] = {
    "vmf": {"decode_score": "vmf_posterior"},
    "vmf_posterior": {"decode_score": "vmf_posterior", "word_bias": True},
}


@pytest.mark.parametrize("name", LOSSES)
def test_every_loss_learns(name: str, write_config, toy: Path, tmp_path: Path, accuracy) -> None:
    steps = 400 if name == "power_spherical" else 150  # from afar its gradient is small
    train(write_config(tmp_path, steps=steps, loss=name, **SETTINGS.get(name, {})))
    predict(tmp_path / "model", toy / "test.src", tmp_path / "out", {"beam_size": 1}, {})
    assert accuracy(tmp_path / "out", toy / "test.tgt") > 0.2  # by chance 0.08


def test_a_transformer_learns_too(write_config, toy: Path, tmp_path: Path, accuracy) -> None:
    def change(config: dict[str, Any]) -> None:
        config["model"] = {
            "architecture": "transformer",
            "hidden_size": 16,
            "word_vec_size": 16,
            "layers": 1,
            "heads": 2,
            "transformer_ff": 32,
        }

    train(write_config(tmp_path, change, steps=200))
    predict(tmp_path / "model", toy / "test.src", tmp_path / "out", {"beam_size": 2}, {})
    assert accuracy(tmp_path / "out", toy / "test.tgt") > 0.3


def test_a_checkpoint_comes_back_as_it_was_written(trained: Path, toy: Path) -> None:
    stored = load_file(trained / "model.00.safetensors")
    model = engine_of(trained, toy / "test.src", {}, {}).predictor.model
    state = model.state_dict()
    assert state.keys() - stored.keys() == {INPUT}
    assert all(torch.equal(state[name], value) for name, value in stored.items())
    assert torch.equal(state[INPUT], stored["generator.targets.table"])


def test_training_goes_on_from_a_checkpoint_with_the_same_vectors_alone(
    write_config, toy: Path, tmp_path: Path
) -> None:
    train(write_config(tmp_path, steps=4))

    def go_on(config: dict[str, Any]) -> None:
        config["training"]["train_from"] = str(tmp_path / "model")

    train(write_config(tmp_path, go_on, steps=8))
    first, then = (load_file(tmp_path / f"model/step_{step}/model.00.safetensors") for step in (4, 8))
    assert torch.equal(first["generator.targets.table"], then["generator.targets.table"])
    assert not torch.equal(first["generator.projection.weight"], then["generator.projection.weight"])
    lines = (toy / "target.vec").read_text().splitlines()
    turned = [
        lines[0],
        *(f"{a.split()[0]} {b.split(maxsplit=1)[1]}" for a, b in zip(lines[1:], lines[:0:-1], strict=True)),
    ]
    (tmp_path / "turned.vec").write_text("\n".join(turned) + "\n")
    with pytest.raises(InputError, match="was trained with other target vectors than those of"):
        train(write_config(tmp_path, go_on, steps=12, target_vectors=str(tmp_path / "turned.vec")))


def cut(config: dict[str, Any], folder: Path) -> None:
    short = folder / "short.tgt"
    short.write_text("t1 t2\n")
    config["data"]["corpus_1"]["path_tgt"] = str(short)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (cut, "has 400 lines and .* has 1: give two texts"),
        (lambda config, folder: config["data"]["valid"].update(path_src="/none"), "there is no file /none"),
        (lambda config, folder: config.update(tgt_vocab="/none"), "there is no vocabulary at /none"),
        (lambda config, folder: config.update(src_vocabulary="x"), "src_vocabulary: Extra inputs are not permitted"),
        (lambda config, folder: config["training"].update(optim="adem"), "training.optim: Input should be"),
        (lambda config, folder: config["training"].update(world_size=2, gpu_ranks=[0, 1]), "trains in one process"),
        (lambda config, folder: config.pop("continuous"), "has no section 'continuous'"),
        (lambda config, folder: config["training"].update(train_from="/none"), "there is no model folder at /none"),
    ],
)
def test_a_user_s_mistake_is_a_sentence(write_config, tmp_path: Path, change, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        train(write_config(tmp_path, lambda config: change(config, tmp_path), steps=1))
    assert not (tmp_path / "model").exists()
