"""Fixtures that every test may use."""

from __future__ import annotations

import os
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
