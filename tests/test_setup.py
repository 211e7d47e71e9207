"""Set-up: the package as installed, which torch is chosen, and that nothing of the user's is replaced.

No test here touches the network: a stand-in for uv writes down what it is asked to do.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import fairseq_xl

ROOT = Path(__file__).resolve().parent.parent


# ---------------------------------------------------------------- the package


def test_metadata(project) -> None:
    assert project["requires-python"] == ">=3.11,<3.14"
    assert project["scripts"] == {"fairseq-xl": "fairseq_xl.cli.main:main"}
    extras = project["optional-dependencies"]
    named = [re.fullmatch(r"fairseq-xl\[([\w,]+)\]", one)[1].split(",") for one in extras.pop("all")]
    assert sorted(name for names in named for name in names) == sorted(set(extras) - {"eole"})


def files_in(folder: Path) -> set[Path]:
    """Every file below a folder, from there, but for what Python caches."""
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"}


def test_an_installed_copy_is_whole_and_knows_its_folder(tmp_path: Path) -> None:
    copy = tmp_path / "source"
    ignored = shutil.ignore_patterns(".git", ".venv*", "runs", "build", "*.egg-info", "__pycache__")
    copy.mkdir()
    for name in ("fairseq_xl", "setup.py", "pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, copy)
    code = f"from setuptools import build_meta as b; b.build_sdist({str(tmp_path)!r}); b.build_wheel({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", code], cwd=copy, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name == f"fairseq_xl-{fairseq_xl.__version__}-py3-none-any.whl"
    (sdist,) = tmp_path.glob("*.tar.gz")
    site, unpacked = tmp_path / "site", tmp_path / "unpacked"
    shutil.unpack_archive(wheel, site, "zip")
    shutil.unpack_archive(sdist, unpacked, filter="data")
    ours = files_in(ROOT / "fairseq_xl")
    assert Path("py.typed") in ours
    assert files_in(site / "fairseq_xl") == ours
    assert files_in(unpacked / sdist.name.removesuffix(".tar.gz") / "fairseq_xl") == ours
    code = "import sys; sys.argv = ['fairseq-xl', 'user-dir']; from fairseq_xl.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(done.stdout.strip()) == site / "fairseq_xl"


# ---------------------------------------------------------------- the script, with a stand-in for uv

UV = '''#!{python}
"""Writes down what it is asked; for `pip install` it makes the distributions that are named appear."""
import json, os, pathlib, sys
log, site, local = pathlib.Path({log!r}), pathlib.Path({site!r}), {local!r}
arguments = sys.argv[1:]
if arguments == ["--version"]:
    sys.exit(print("uv 0"))
pinned = [pathlib.Path(arguments[i + 1]).read_text() for i, a in enumerate(arguments) if a == "--constraint"]
without = [pathlib.Path(arguments[i + 1]).read_text() for i, a in enumerate(arguments) if a == "--overrides"]
with log.open("a") as file:
    file.write(json.dumps({{"arguments": arguments, "pinned": pinned, "without": without}}) + "\\n")
if arguments[:2] == ["pip", "list"]:
    print("torch==1\\ntqdm==4.70.1")
if arguments[:2] == ["pip", "install"]:
    if "--torch-backend" in arguments and not os.environ.get("INDEX"):
        sys.exit("cannot reach that index")
    if "--no-index" in arguments and not local:
        sys.exit("no such wheel")
    ours = any("fairseq_xl" in a or a == "--editable" for a in arguments)
    if ours and os.environ.get("CXX") == "/none" and not without:
        sys.exit("no compiler")
    for a in arguments:
        if a.startswith("torch=="):
            info = site / f"torch-{{local if '--no-index' in arguments else a[7:]}}.dist-info"
            info.mkdir(parents=True)
            (info / "METADATA").write_text(f"Name: torch\\nVersion: {{info.name[6:-10]}}\\n")
'''


class Sandbox:
    """A bare environment and a stand-in for uv in front of the path."""

    def __init__(self, folder: Path) -> None:
        self.prefix = folder / "env"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(self.prefix)], check=True)
        self.python = self.prefix / "bin" / "python"
        self.site = Path(sysconfig.get_path("purelib", vars={"base": str(self.prefix), "platbase": str(self.prefix)}))
        self.log = folder / "log"
        self.tools = folder / "tools"
        self.tools.mkdir()
        self.program("uv", UV.format(python=sys.executable, log=str(self.log), site=str(self.site), local="2.13.0+cpu"))
        self.program("nvidia-smi", "#!/bin/sh\nexit 9\n")
        self.env = {"PATH": f"{self.tools}:/usr/bin:/bin", "HOME": str(folder), "TMPDIR": str(folder)}
        self.env["CXX"] = sys.executable  # any program that exists passes for a compiler

    def program(self, name: str, text: str) -> None:
        (self.tools / name).write_text(text)
        (self.tools / name).chmod(0o755)

    def set_up(self, *options: str) -> subprocess.CompletedProcess[str]:
        self.log.write_text("")
        return subprocess.run(
            ["bash", str(ROOT / "scripts" / "setup.sh"), *options],
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )

    def here(self, *options: str) -> subprocess.CompletedProcess[str]:
        return self.set_up("--here", "--python", str(self.python), *options)

    def calls(self) -> list[dict]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def main_call(self) -> dict:
        """The one that installs the package."""
        return next(
            c for c in reversed(self.calls()) if any("fairseq_xl" in a or a[:1] == "/" for a in c["arguments"][5:])
        )

    def add_torch(self, version: str) -> None:
        info = self.site / f"torch-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: torch\nVersion: {version}\n")


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    return Sandbox(tmp_path)


def asked_for(calls: list[dict]) -> set[str]:
    return {argument for call in calls for argument in call["arguments"]}


def torch_call(sandbox: Sandbox) -> list[str]:
    """What the last call that asks for torch says of it."""
    (*_, call) = (c["arguments"] for c in sandbox.calls() if any(a.startswith("torch==") for a in c["arguments"]))
    return [a for a in call if a.startswith("torch==") or a in ("--no-index", "--torch-backend", "cpu", "auto")]


def test_a_users_torch_is_pinned_and_never_asked_for_again(sandbox: Sandbox) -> None:
    sandbox.add_torch("2.11.0+cu128")
    done = sandbox.here("--find-links", "wheels", "--torch", "cpu")
    assert done.returncode == 0, done.stderr
    assert "torch 2.11.0+cu128 is installed and stays" in done.stderr
    assert not any(argument.startswith("torch=") for argument in asked_for(sandbox.calls()))
    assert sandbox.main_call()["pinned"] == ["torch==2.11.0+cu128\n"]
    assert sandbox.here("--force").returncode == 0
    reinstalled = sandbox.main_call()["arguments"]
    assert "tqdm" in reinstalled
    assert "torch" not in reinstalled


@pytest.mark.parametrize(
    ("gpu", "index", "options", "asked"),
    [
        (False, False, ["--find-links", "wheels"], ["--no-index", "torch==2.13.0"]),
        (False, True, [], ["--torch-backend", "cpu", "torch==2.13.0"]),
        (False, False, [], ["torch==2.13.0"]),
        (True, True, ["--find-links", "wheels"], ["--torch-backend", "auto", "torch==2.13.0"]),
        (True, True, ["--torch", "cpu"], ["--torch-backend", "cpu", "torch==2.13.0"]),
        (False, True, ["--torch", "cuda"], ["--torch-backend", "auto", "torch==2.13.0"]),
        (True, False, ["--find-links", "wheels"], ["--no-index", "torch==2.13.0"]),
        (False, True, ["--torch", "2.9.1"], ["--torch-backend", "cpu", "torch==2.9.1"]),
    ],
    ids=["wheel", "CPU build", "default index", "GPU", "GPU not wanted", "CUDA wanted", "GPU without index", "version"],
)
def test_which_torch(sandbox: Sandbox, gpu: bool, index: bool, options: list[str], asked: list[str]) -> None:
    if gpu:
        sandbox.program("nvidia-smi", "#!/bin/sh\necho 'GPU 0: one'\n")
    if index:
        sandbox.env["INDEX"] = "reached"
    done = sandbox.here(*options)
    assert done.returncode == 0, done.stderr
    assert torch_call(sandbox) == asked
    version = "2.13.0+cpu" if "--no-index" in asked else asked[-1].removeprefix("torch==")
    assert sandbox.main_call()["pinned"] == [f"torch=={version}\n"]
    assert ("taking the default index's build" in done.stderr) == (asked == ["torch==2.13.0"])


@pytest.mark.parametrize(
    ("installed", "options"),
    [("2.5.1", []), ("2.11.0+cu128", ["--torch", "2.13.0"])],
    ids=["too old", "another asked for"],
)
def test_an_installed_torch_that_cannot_do_is_refused_not_replaced(sandbox: Sandbox, installed, options) -> None:
    sandbox.add_torch(installed)
    done = sandbox.here(*options)
    assert done.returncode == 2
    assert f"error: torch {installed} is installed here" in done.stderr
    assert not any("install" in call["arguments"] for call in sandbox.calls())


def test_eole_is_installed_without_fairseq_and_never_beside_it(sandbox: Sandbox) -> None:
    assert sandbox.here("--extras", "eole").returncode == 0
    (without,) = sandbox.main_call()["without"]
    assert {line.partition(";")[0] for line in without.splitlines()} >= {"fairseq-fixed", "fasttext-numpy2"}
    (sandbox.site / "fairseq.py").touch()
    done = sandbox.here("--extras", "eole", "--force")
    assert done.returncode == 2
    assert "fairseq is installed here" in done.stderr


def test_the_second_run_installs_nothing_and_more_extras_are_added(sandbox: Sandbox) -> None:
    assert sandbox.here("--extras", "none").returncode == 0
    assert not any(a.endswith("]") for a in asked_for(sandbox.calls()))
    again = sandbox.here("--extras", "none")
    assert "is up to date" in again.stderr
    assert sandbox.calls() == []
    assert sandbox.here("--extras", "report").returncode == 0
    assert any(a.endswith("[report]") for a in asked_for(sandbox.calls()))
    assert sandbox.here("--extras", "none").returncode == 0
    assert sandbox.calls() == []


def test_an_extra_that_there_is_not_is_refused(sandbox: Sandbox) -> None:
    done = sandbox.here("--extras", "report,reprot")
    assert done.returncode == 2
    assert "error: --extras has 'reprot': there are" in done.stderr
    assert sandbox.calls() == []


def test_without_a_compiler_the_rest_is_installed_and_fasttext_follows_later(sandbox: Sandbox) -> None:
    sandbox.env["CXX"] = "/none"
    done = sandbox.here()
    assert done.returncode == 0, done.stderr
    assert "everything but fastText is installed" in done.stderr
    (without,) = sandbox.main_call()["without"]
    assert without.startswith("fasttext-numpy2;")
    assert "is up to date" in sandbox.here().stderr
    sandbox.env["CXX"] = sys.executable
    assert sandbox.here().returncode == 0
    assert sandbox.main_call()["without"] == []


def test_what_fails_with_a_compiler_fails(sandbox: Sandbox) -> None:
    sandbox.program("uv", "#!/bin/sh\n[ $1 = --version ] || exit 3\n")
    sandbox.add_torch("2.13.0")
    done = sandbox.here()
    assert done.returncode == 2
    assert "the message above says" in done.stderr
    assert not (sandbox.prefix / "fairseq_xl-setup").exists()


def test_a_wheel_takes_the_place_of_the_clone_and_a_changed_one_is_noticed(sandbox: Sandbox, tmp_path: Path) -> None:
    wheel = tmp_path / "fairseq_xl-0.1.0-py3-none-any.whl"
    wheel.write_bytes(b"one")
    assert sandbox.here("--extras", "report", "--wheel", str(wheel)).returncode == 0
    arguments = sandbox.main_call()["arguments"]
    assert f"{wheel}[report]" in arguments
    assert "--editable" not in arguments
    assert arguments[arguments.index("--reinstall-package") + 1] == "fairseq-xl"
    assert sandbox.here("--extras", "report", "--wheel", str(wheel)).returncode == 0
    assert sandbox.calls() == []
    wheel.write_bytes(b"two")
    assert sandbox.here("--wheel", str(wheel)).returncode == 0
    assert f"{wheel}[report,test]" in asked_for(sandbox.calls())
    assert sandbox.here().returncode == 0  # the clone again
    assert "--editable" in asked_for(sandbox.calls())


def test_a_folder_that_is_no_environment_is_left_alone(sandbox: Sandbox, tmp_path: Path) -> None:
    precious = tmp_path / "results" / "precious.txt"
    precious.parent.mkdir()
    precious.touch()
    done = sandbox.set_up("--venv", str(precious.parent), "--python", str(sandbox.python))
    assert done.returncode == 2
    assert done.stderr.endswith("is no virtual environment; name another with --venv DIR\n")
    assert precious.exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--python", "no-such-python"], "no Python 3.11, 3.12 or 3.13 found"),
        (["--torch", "newest"], "--torch newest: use auto, cpu, cuda or a version"),
        (["--wheel", "fairseq_xl-9.whl"], "fairseq_xl-9.whl: there is no wheel of fairseq_xl of that name"),
        (["--fast"], "setup.sh has no option '--fast': see --help"),
        (["--torch"], "--torch needs a value"),
    ],
)
def test_a_wrong_option_gets_a_sentence(sandbox: Sandbox, options: list[str], sentence: str) -> None:
    done = sandbox.set_up("--here", *options) if "--python" in options else sandbox.here(*options)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_find_links_of_the_environment_are_separated_as_their_tools_do(sandbox: Sandbox) -> None:
    """uv's by commas, so that a folder may have a blank in its name; pip's by blanks."""
    sandbox.add_torch("2.11.0+cpu")
    sandbox.env |= {"UV_FIND_LINKS": "/my wheels,/b", "PIP_FIND_LINKS": "/c /d"}
    done = sandbox.here("--find-links", "wheels")
    assert done.returncode == 0, done.stderr
    arguments = sandbox.main_call()["arguments"]
    given = [value for option, value in itertools.pairwise(arguments) if option == "--find-links"]
    assert [Path(value).name for value in given] == ["wheels", "my wheels", "b", "c", "d"]
