"""Fixtures that every test may use."""

from __future__ import annotations

import json
import os
import random
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import hypothesis
import pytest
import torch

ROOT = Path(__file__).resolve().parent.parent

# What takes milliseconds on an idle machine can take a second on a busy one.
hypothesis.settings.register_profile("fairseq_xl", deadline=None)
hypothesis.settings.load_profile("fairseq_xl")

# More threads than cores make small models slower, and sums depend on the number of threads.
torch.set_num_threads(2)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real data that ``FAIRSEQ_XL_DATA`` names; without it the test is skipped."""
    named = os.environ.get("FAIRSEQ_XL_DATA")
    if not named:
        pytest.skip("needs real data: set FAIRSEQ_XL_DATA to the folder that holds it")
    folder = Path(named)
    if not folder.is_dir():
        pytest.fail(f"FAIRSEQ_XL_DATA names {folder}, which is no folder")
    return folder


@pytest.fixture(scope="session")
def setup_arguments() -> dict[str, Any]:
    """What ``setup.py`` passes to ``setuptools.setup``."""
    with mock.patch("setuptools.setup") as setup:
        runpy.run_path(str(ROOT / "setup.py"))
    return setup.call_args.kwargs


@pytest.fixture(scope="session")
def cli_code() -> str:
    """What ``python -c`` runs as the command fairseq-xl.

    Not ``python -m fairseq_xl.cli``: that announces no name of its own while the package loads,
    which would register every component first.
    """
    return "import sys; sys.argv[0] = 'fairseq-xl'; from fairseq_xl.cli import main; sys.exit(main())"


@pytest.fixture(scope="session")
def run_cli(cli_code: str) -> Callable[..., subprocess.CompletedProcess[str]]:
    """``run_cli("vectors", "random", …)`` runs fairseq-xl in a process of its own.

    Returns the completed process with text output, whatever its status. ``python=`` names
    another interpreter; other keyword arguments go to ``subprocess.run`` (``cwd``, ``input`` …).
    """

    def run(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
        env = dict(options.pop("env", None) or os.environ)
        paths = [str(ROOT), env.get("PYTHONPATH", "")]
        env["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
        env.setdefault("OMP_NUM_THREADS", "2")
        python = options.pop("python", sys.executable)
        command = [python, "-c", cli_code, *map(str, arguments)]
        options = {"capture_output": True, "text": True, "check": False, "timeout": 300, **options}
        return subprocess.run(command, env=env, **options)

    return run


# --- finished runs as a recipe leaves them, made up ---

SIGNATURE = "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"
WORDS = ("a", "the", "man", "woman", "dog", "cat", "is", "runs", "sits", "under", "red", "small", "house", "tree")


def sentences(seed: int, count: int = 40) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=draw.randint(4, 9))) + " ." for _ in range(count)]


def spoilt(lines: list[str], share: float, seed: int) -> list[str]:
    """The same sentences with a share of their words replaced."""
    draw = random.Random(seed)

    def changed(word: str) -> str:
        return draw.choice(WORDS) if draw.random() < share else word

    return [" ".join(map(changed, line.split())) for line in lines]


@pytest.fixture
def make_run(tmp_path: Path):
    """``make_run(name, bleu=30.0, share=0.3, seed=1)`` writes OUT/runs/NAME, whose folder it returns."""
    out = tmp_path / "out"
    plain = out / "prepared" / "de-en" / "plain"
    plain.mkdir(parents=True)
    references = sentences(0)
    (plain / "test.en").write_text("\n".join(references) + "\n")
    (plain / "test.de").write_text("\n".join(line.upper() for line in references) + "\n")

    def make(name: str, bleu: float = 30.0, share: float = 0.3, seed: int = 1, measure: str = "accuracy") -> Path:
        run = out / "runs" / name
        run.mkdir(parents=True)
        scores = {
            f"beam{beam}": {
                "BLEU": {"score": bleu + beam / 10, "signature": SIGNATURE},
                "chrF2": {"score": 2 * bleu, "signature": SIGNATURE.replace("13a", "none")},
            }
            for beam in (1, 5)
        }
        record = {
            "name": name, "source": "de", "target": "en", "scores": {"test": scores}, "seed": seed, "epochs": 2,
            "seconds_per_epoch": 90.0, "device": "cpu: a processor",
        }  # fmt: skip
        (run / "record.json").write_text(json.dumps(record))
        for beam in (1, 5):
            (run / f"hyp.beam{beam}.txt").write_text("\n".join(spoilt(references, share, seed)) + "\n")
        lines = ["INFO | fairseq_cli.train | num. shared model params: 1,234,567 (num. trained: 1,000,000)"]
        for epoch in (1, 2):
            at = {"epoch": epoch, "num_updates": 10 * epoch - 5}
            inner = {**at, "update": epoch - 0.5, "loss": "1", "ups": "2", "bsz": "60"}
            end = {"epoch": epoch}
            train = {**end, "train_loss": "1", "train_train_wall": "90", "train_num_updates": 10 * epoch}
            found = {f"valid_{measure}": str(bleu + epoch), "valid_num_updates": 10 * epoch}
            valid = {**end, "valid_loss": "1", **found}
            lines += [json.dumps(values) for values in (inner, train, valid)]
        (run / "train.log").write_text("\n".join(lines) + "\n")
        return run

    make.out, make.references, make.spoilt = out, references, spoilt
    return make
