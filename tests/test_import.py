"""What importing the package does to the program that imports it: nothing, until fairseq or a script asks for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

REGISTERED = """
import logging
root = logging.getLogger()
{before}
before = root.level, list(root.handlers)
{how}
import fairseq.tasks
from fairseq.criterions import CRITERION_REGISTRY
assert "syn_margin_proj" in CRITERION_REGISTRY
assert before == (root.level, root.handlers), root
"""


@pytest.mark.parametrize(
    ("before", "how"),
    [
        ("root.addHandler(logging.StreamHandler())", "import fairseq_xl; fairseq_xl.register()"),
        ("", "from fairseq_xl import PairPredictor, SentenceEncoder, TextClassifier"),
    ],
    ids=["register, with a handler", "names, without one"],
)
def test_logging_stays_as_it_was_and_nothing_is_said(before: str, how: str) -> None:
    """fairseq sets logging up when it is imported, and says that there is no tensorboardX."""
    code = REGISTERED.format(before=before, how=how)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=900)
    assert (done.returncode, done.stderr) == (0, "")


def test_importing_fairseq_first_registers() -> None:
    code = "import fairseq.criterions as c, fairseq_xl; print('syn_margin_proj' in c.CRITERION_REGISTRY)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=900)
    assert done.stdout.strip() == "True"


def test_importing_is_inert() -> None:
    code = "import sys; before = set(sys.modules); import fairseq_xl; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=900)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not loaded & {"torch", "fairseq", "numpy", "omegaconf", "tqdm", "scipy"}


def test_a_command_says_nothing_of_tensorboard() -> None:
    code = "from fairseq_xl.cli.main import main; main(['user-dir']); import fairseq.tasks"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=900)
    assert done.stderr == ""


def test_onnxruntime_reports_nothing_and_leaves_nothing(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    code = "import fairseq_xl; fairseq_xl.hush(); import onnxruntime"
    environment = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    environment |= {"HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-B", "-c", code], check=True, timeout=900, env=environment)
    assert list(tmp_path.iterdir()) == []
