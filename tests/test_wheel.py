"""scripts/smoke.sh: the wheel in an empty environment, and what is said where that cannot be tried."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fairseq_xl

ROOT = Path(__file__).resolve().parent.parent


def smoke(*arguments: str, temporary: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", str(ROOT / "scripts" / "smoke.sh"), *arguments],
        cwd=temporary,
        env={**os.environ, "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )


@pytest.fixture
def index(tmp_path_factory) -> None:
    """Skips where pip reaches no package index, which the set-up of an empty environment needs."""
    folder = tmp_path_factory.mktemp("index")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--retries", "0", "--timeout", "30"]
    command += ["--no-cache-dir", "--no-deps", "--only-binary", ":all:", "--dest", str(folder), "tqdm>=4.60"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"needs a package index, and pip reaches none: {done.stderr.strip().splitlines()[-1]}")


@pytest.mark.slow
def test_the_wheel_installs_into_an_empty_environment_and_does_the_main_job(index, tmp_path) -> None:
    """This interpreter; `bash scripts/smoke.sh` tries every version."""
    done = smoke(sys.executable, temporary=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"fairseq_xl-{fairseq_xl.__version__}-py3-none-any.whl" in done.stderr
    (line,) = done.stdout.splitlines()
    assert line.startswith(f"Python {platform.python_version()}, torch ")
    assert re.search(r": passed; installing \d+ s, smoke test \d+ s; BLEU\S* = \d", line)
    assert not list(tmp_path.glob("fairseq_xl-smoke.*"))
    left = [path.name for path in ROOT.iterdir() if path.name in ("build", "dist") or path.suffix == ".egg-info"]
    assert left in ([], ["fairseq_xl.egg-info"])  # an editable installation has one


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["3.99"], "there is no Python 3.99 here"),
        (["--installer", "conda"], "--installer is 'conda': use setup or pip"),
        (["--installer"], "--installer needs a value"),
        (["--wheel", "nothing.whl"], "there is no wheel"),
        (["--quick"], "smoke.sh has no option '--quick'"),
        (["--keep", ".", sys.executable], "exists and is not empty"),
    ],
)
def test_what_cannot_be_tried_gets_a_sentence(tmp_path, arguments, sentence) -> None:
    (tmp_path / "precious").touch()
    done = smoke(*arguments, temporary=tmp_path)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]


def test_a_version_that_is_not_there_is_named(tmp_path) -> None:
    """Stand-ins for interpreters that do not run, as a version manager leaves them on the path."""
    for name in ("python3.11", "python3.12", "python3.13", "uv"):
        program = tmp_path / name
        program.write_text("#!/bin/sh\nexit 127\n")
        program.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    for options, sentence in (
        (["--require"], "there is no Python 3.11 3.12 3.13 here"),
        ([], "not found, and not tried: Python 3.11 3.12 3.13\nerror: none of Python 3.11, 3.12 and 3.13 is"),
    ):
        done = subprocess.run(
            ["bash", str(ROOT / "scripts" / "smoke.sh"), *options],
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        assert sentence in done.stderr
