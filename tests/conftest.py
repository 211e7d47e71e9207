"""Fixtures that every test may use."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import tomllib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import finished_runs
import forkserver
import hypothesis
import playground as playgrounds
import pytest
import tqdm

import fairseq_xl

pytest_plugins = ["trainings", "several_processes", "tagged_data", "hub_server", "order", "skips"]

ROOT = Path(__file__).resolve().parent.parent

# What takes milliseconds on an idle machine can take a second on a busy one; and the examples are the same in every
# run, so that a failure belongs to the change that caused it. New ones: --hypothesis-profile search.
hypothesis.settings.register_profile("search", deadline=None)
hypothesis.settings.register_profile("fairseq_xl", deadline=None, derandomize=True)
hypothesis.settings.load_profile("fairseq_xl")

# tqdm's lock is shared with forks, so that a fork that is killed while it draws a bar would have it for ever, and the
# next bar of the tests wait for it. This one is each process's own.
tqdm.tqdm.set_lock(threading.RLock())


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    """Adds none: this is called before pytest imports what is below this folder, where fairseq has to be mended.

    The process that hands tests out to others runs none, and need not wait for torch and fairseq before it starts them.
    """
    asked = pluginmanager.getplugin("pytestconfig").known_args_namespace
    alone = getattr(asked, "collectonly", False) or getattr(asked, "usepdb", False)
    if getattr(asked, "numprocesses", None) and not alone and "PYTEST_XDIST_WORKER" not in os.environ:
        fairseq_xl.hush()
        return
    import torch

    # The tests' processes fill the cores; threads that wait for each other would make them many times as slow.
    torch.set_num_threads(1)
    fairseq_xl.register()


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
def project() -> dict[str, Any]:
    """The table ``project`` of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="session")
def cli_code() -> str:
    """What ``python -c`` runs as the command fairseq-xl."""
    return "import sys; from fairseq_xl.cli.main import main; sys.exit(main())"


@pytest.fixture(scope="session")
def run_cli(cli_code: str) -> Callable[..., subprocess.CompletedProcess[str]]:
    """``run_cli("vectors", "random", …)`` runs fairseq-xl in a process of its own.

    Returns the completed process with text output, whatever its status. ``python=`` names
    another interpreter; other keyword arguments go to ``subprocess.run`` (``cwd``, ``input`` …).
    """

    def run(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
        env = dict(options.pop("env", None) or os.environ)
        paths = [env.get("PYTHONPATH", ""), str(ROOT)]  # an editable installation leaves metadata in ROOT
        env["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
        env.setdefault("OMP_NUM_THREADS", "1")
        python = options.pop("python", sys.executable)
        command = [python, "-c", cli_code, *map(str, arguments)]
        options = {"capture_output": True, "text": True, "check": False, "timeout": 900, **options}
        return subprocess.run(command, env=env, **options)

    return run


@pytest.fixture(scope="session")
def forks() -> Iterator[forkserver.Server]:
    """Commands for shell scripts that need not import torch and fairseq again: see helpers/forkserver.py.

    ``forks.environment()`` is one in which fairseq-xl, fairseq-train and the others are these.
    """
    server = forkserver.Server()
    yield server
    server.close()


@pytest.fixture(scope="session")
def forked_cli(forks: forkserver.Server) -> Callable[..., subprocess.CompletedProcess[str]]:
    """As ``run_cli``, in a fork: for commands that import torch or fairseq, where that is not what is tested."""
    return partial(forks.run, "fairseq-xl")


@pytest.fixture
def elsewhere(forks: forkserver.Server, tmp_path: Path) -> Callable[..., Any]:
    """``elsewhere("copy.translate(text)", copy=…, text=…)`` is that in a process which gets pickled values.

    It has imported fairseq, and not the plugin; compat/test_pickling.py has one that has imported neither.
    """

    def find(expression: str, **values: object) -> Any:
        script = tmp_path / "elsewhere.py"
        script.write_text(
            "import pickle, sys\n"
            "globals().update(pickle.load(sys.stdin.buffer))\n"
            f"pickle.dump({expression}, sys.stdout.buffer)\n"
        )
        done = forks.run("python-script", script, input=pickle.dumps(values), text=False)
        assert done.returncode == 0, done.stderr.decode()[-2000:]
        return pickle.loads(done.stdout)

    return find


@pytest.fixture
def playground(tmp_path: Path) -> playgrounds.Playground:
    """A folder with a recipe that does what it is told, and an experiment of it."""
    return playgrounds.Playground(tmp_path)


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[..., Path]:
    """``make_run(name, bleu=30.0, share=0.3, seed=1)`` writes OUT/runs/NAME, whose folder it returns."""

    def make(name: str, *about: Any, **more: Any) -> Path:
        return finished_runs.write(make.out, name, *about, **more)

    make.out, make.references, make.spoilt = tmp_path / "out", finished_runs.sentences(0), finished_runs.spoilt
    return make
