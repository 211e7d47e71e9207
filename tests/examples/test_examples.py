"""The examples of plain PyTorch run as they are, learn, and never import fairseq."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
# What each must reach: accuracy in its last epoch (%), BLEU of each search.
LEAST = {"accelerate_loop": (60, [20]), "hugging_face": (60, [20, 20])}
RUN = """
import runpy, sys
runpy.run_path(sys.argv[1], run_name="__main__")
found = {name.split(".")[0] for name in sys.modules} & {"fairseq", "fairseq_cli", "omegaconf"}
sys.exit(f"it imported {found}" if found else 0)
"""


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_learns_without_fairseq(example, tmp_path):
    pytest.importorskip("transformers", reason="the examples need: bash scripts/setup.sh --extras examples")
    pytest.importorskip("accelerate", reason="the examples need: bash scripts/setup.sh --extras examples")
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(example)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    accuracy, bleu = LEAST[example.stem]
    assert float(re.findall(r"accuracy ([\d.]+) %", done.stdout)[-1]) > accuracy
    found = [float(score) for score in re.findall(r"([\d.]+) BLEU", done.stdout)]
    assert len(found) == len(bleu)
    assert all(score > least for score, least in zip(found, bleu, strict=True)), found
    assert not list(tmp_path.iterdir())


def test_the_examples_are_short():
    assert {path.stem for path in EXAMPLES} == LEAST.keys()
    for path in EXAMPLES:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 120, path
