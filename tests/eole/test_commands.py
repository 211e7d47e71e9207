"""``fairseq-xl eole`` in a process that cannot import fairseq."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

pytest.importorskip("eole", reason="eole is not installed: FAIRSEQ_XL_EOLE=1 bash scripts/test.sh makes it a place")

ROOT = Path(__file__).resolve().parents[2]
WITHOUT_FAIRSEQ = """
import sys
for name in ("fairseq", "fairseq_cli", "hydra", "omegaconf"):
    sys.modules[name] = None
from fairseq_xl.cli.main import main
sys.exit(main())
"""


def run(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT_FAIRSEQ, "eole", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)


def test_train_and_predict(write_config, toy: Path, tmp_path: Path) -> None:
    done = run("train", "--config", write_config(tmp_path, steps=3))
    assert done.returncode == 0, done.stderr
    options = tmp_path / "predict.yaml"
    options.write_text("max_length_ratio: 1.5\ncontinuous: {decode_scale: 10}\n")
    words = ("--model", tmp_path / "model", "--src", toy / "test.src", "--output", tmp_path / "out")
    done = run("predict", *words, "--beam", 2, "--config", options)
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "out").read_text().splitlines()) == 40


def test_the_recipe_s_configuration_trains(toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fairseq_xl.eole import training
    from fairseq_xl.eole.settings import read_config

    for name, side in (("de", "src"), ("en", "tgt")):
        for folder, file, copy in (
            ("true", f"train.{side}", f"train.{name}"),
            ("true", f"valid.{side}", f"valid.{name}"),
            ("bin", f"dict.{side}.txt", f"dict.{name}.txt"),
        ):
            (tmp_path / folder).mkdir(exist_ok=True)
            shutil.copy(toy / file, tmp_path / folder / copy)
    for name, value in (("PREPARED", tmp_path), ("VECTORS", toy / "target.vec"), ("RUN", tmp_path / "run")):
        monkeypatch.setenv(name, str(value))
    config, section = read_config(ROOT / "recipes" / "config" / "eole.yaml")
    config["model"]["embeddings"]["tgt_word_vec_size"] = 16
    config["training"].update(train_steps=2, valid_steps=2, save_checkpoint_steps=2)
    smaller = tmp_path / "smaller.yaml"
    smaller.write_text(yaml.safe_dump({**config, "continuous": section}))
    training.train(smaller)
    assert (tmp_path / "run" / "step_2" / "continuous.json").is_file()


def test_a_mistake_is_a_sentence_and_status_2(tmp_path: Path) -> None:
    done = run("train", "--config", tmp_path / "none.yaml")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("error: cannot read ")
