"""``fairseq-xl eole`` in a process that cannot import fairseq."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("eole", reason="eole is not installed: FAIRSEQ_XL_EOLE=1 bash scripts/test.sh makes it a place")

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


def test_a_mistake_is_a_sentence_and_status_2(tmp_path: Path) -> None:
    done = run("train", "--config", tmp_path / "none.yaml")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("error: cannot read ")
