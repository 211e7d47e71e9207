"""Set-up: the package as installed, which torch is chosen, and that nothing of the user's is replaced.

No test here touches the network: a stand-in for uv writes down what it is asked to do.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

import fairseq_xl

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def install() -> ModuleType:
    """scripts/install.py as a module."""
    spec = importlib.util.spec_from_file_location("install_script", ROOT / "scripts" / "install.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


# ---------------------------------------------------------------- the package


def test_metadata(setup_arguments) -> None:
    assert setup_arguments["version"] == fairseq_xl.__version__
    assert setup_arguments["python_requires"] == ">=3.11,<3.14"
    assert setup_arguments["entry_points"] == {"console_scripts": ["fairseq-xl = fairseq_xl.cli.main:main"]}
    extras = setup_arguments["extras_require"]
    assert set(extras["all"]) == {r for name in extras if name != "all" for r in extras[name]}


def test_an_installed_copy_is_whole_and_knows_its_folder(tmp_path: Path) -> None:
    copy = tmp_path / "source"
    ignored = shutil.ignore_patterns(".git", ".venv*", "runs", "build", "*.egg-info", "__pycache__")
    copy.mkdir()
    for name in ("fairseq_xl", "setup.py", "pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, copy)
    code = f"from setuptools.build_meta import build_wheel; build_wheel({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", code], cwd=copy, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    shipped = {path.relative_to(site) for path in (site / "fairseq_xl").rglob("*.py")}
    assert shipped == {path.relative_to(ROOT) for path in (ROOT / "fairseq_xl").rglob("*.py")}
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


# ---------------------------------------------------------------- which torch


def choose(install: ModuleType, **changes: object):
    facts = {"installed": None, "local": None, "gpu": False, "wanted": "auto", "cpu_index_differs": True}
    return install.choose_torch(**{**facts, **changes})


@pytest.mark.parametrize(
    ("facts", "requirement", "backend"),
    [
        ({"installed": "2.11.0+cu128", "local": "2.13.0+cpu"}, None, None),
        ({"installed": "2.11.0+cu128", "wanted": "cpu"}, None, None),
        ({"installed": "2.11.0", "wanted": "2.11.0", "gpu": True}, None, None),
        ({"local": "2.13.0+cpu"}, "torch==2.13.0+cpu", None),
        ({"local": "2.13.0+cpu", "wanted": "cpu", "gpu": True}, "torch==2.13.0+cpu", None),
        ({"local": "2.13.0+cu130", "gpu": True}, "torch==2.13.0+cu130", None),
        ({"local": "2.12.0+cpu", "gpu": True}, "torch==2.13.0", "auto"),
        ({"local": "2.12.0+cpu", "wanted": "cuda"}, "torch==2.13.0", "auto"),
        ({"local": "2.12.0+cu130", "wanted": "cpu"}, "torch==2.13.0", "cpu"),
        ({}, "torch==2.13.0", "cpu"),
        ({"gpu": True}, "torch==2.13.0", "auto"),
        ({"wanted": "2.9.1"}, "torch==2.9.1", "cpu"),
        ({"cpu_index_differs": False}, "torch==2.13.0", None),
    ],
)
def test_which_torch(install, facts, requirement, backend) -> None:
    choice = choose(install, **facts)
    assert (choice.requirement, choice.backend) == (requirement, backend)


@pytest.mark.parametrize(
    "facts",
    [{"installed": "2.5.1"}, {"installed": "2.11.0+cu128", "wanted": "2.13.0"}],
    ids=["too old", "another is asked for"],
)
def test_an_installed_torch_that_cannot_do_is_refused_not_replaced(install, facts) -> None:
    with pytest.raises(install.SetupError, match="is installed here"):
        choose(install, **facts)


def test_a_python_that_does_not_run_gets_a_sentence(install, tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    with pytest.raises(install.SetupError, match="Python does not run"):
        install.working(python)


@pytest.mark.parametrize(
    ("version", "numbers"),
    [("2.13.0+cpu", (2, 13, 0)), ("2.15.0a0+git1", (2, 15, 0)), ("3", (3,)), ("2.9.dev1", (2, 9))],
)
def test_release_numbers(install, version, numbers) -> None:
    assert install.release(version) == numbers


# ---------------------------------------------------------------- the whole script, with a stand-in for uv

UV = '''#!{python}
"""Writes down what it is asked; for `pip install` it makes the distributions that are named appear."""
import json, os, pathlib, sys
log, site, torch = pathlib.Path({log!r}), pathlib.Path({site!r}), {torch!r}
arguments = sys.argv[1:]
pinned = [pathlib.Path(arguments[i + 1]).read_text() for i, a in enumerate(arguments) if a == "--constraint"]
with log.open("a") as file:
    file.write(json.dumps({{"arguments": arguments, "pinned": pinned}}) + "\\n")
if arguments[:2] == ["pip", "compile"]:
    print("torch==" + torch)
if arguments[:2] == ["pip", "install"]:
    if "--torch-backend" in arguments:
        sys.exit("cannot reach that index")
    for a in arguments:
        if a.startswith("fasttext-numpy2") and os.environ.get("CXX") != "/nonexistent":
            a = "fasttext-numpy2==0.10.4"
        elif a.startswith("fasttext-numpy2"):
            sys.exit("no compiler")
        name, _, version = a.partition("==")
        if ".whl" in a:
            name, version = "fairseq-xl", "0.1.0"
        if name in ("torch", "fasttext-numpy2", "fairseq-xl") and version:
            info = site / f"{{name}}-{{version}}.dist-info"
            info.mkdir(exist_ok=True)
            (info / "METADATA").write_text(f"Name: {{name}}\\nVersion: {{version}}\\n")
            (info / "RECORD").write_text("")
'''


class Sandbox:
    """A bare environment and a stand-in for uv in front of the path."""

    def __init__(self, folder: Path, local_torch: str) -> None:
        self.prefix = folder / "env"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(self.prefix)], check=True)
        self.python = self.prefix / "bin" / "python"
        self.site = Path(sysconfig.get_path("purelib", vars={"base": str(self.prefix), "platbase": str(self.prefix)}))
        self.log = folder / "log"
        tools = folder / "tools"
        tools.mkdir()
        uv = tools / "uv"
        uv.write_text(UV.format(python=sys.executable, log=str(self.log), site=str(self.site), torch=local_torch))
        uv.chmod(0o755)
        self.env = {"PATH": f"{tools}:/usr/bin:/bin", "HOME": str(folder), "TMPDIR": str(folder)}
        self.env["CXX"] = sys.executable  # any program that exists passes for a compiler

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

    def add(self, name: str, version: str, *files: str) -> None:
        info = self.site / f"{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n\nName: not this\n")
        for file in files:
            (self.site / file).touch()
        (info / "RECORD").write_text("".join(f"{file},,\n" for file in files))


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    return Sandbox(tmp_path, "2.13.0+cpu")


def asked_for(calls: list[dict]) -> set[str]:
    return {argument for call in calls for argument in call["arguments"]}


def test_a_users_torch_is_pinned_and_never_asked_for_again(sandbox: Sandbox) -> None:
    sandbox.add("torch", "2.11.0+cu128", "torch.py")
    done = sandbox.here("--find-links", "wheels")
    assert done.returncode == 0, done.stderr
    assert "torch 2.11.0+cu128, which is installed and stays" in done.stderr
    calls = sandbox.calls()
    assert not any(argument.startswith("torch=") for argument in asked_for(calls))
    (main,) = (call for call in calls if "--editable" in call["arguments"])
    assert "torch==2.11.0+cu128\n" in main["pinned"]


def test_a_wheel_in_the_users_folders_is_taken_and_pinned(sandbox: Sandbox) -> None:
    done = sandbox.here("--find-links", "wheels", "--torch", "cpu")
    assert done.returncode == 0, done.stderr
    calls = sandbox.calls()
    assert "torch==2.13.0+cpu" in asked_for(calls)
    assert all("wheels" in call["arguments"] for call in calls)
    (main,) = (call for call in calls if "--editable" in call["arguments"])
    assert main["pinned"] == ["torch==2.13.0+cpu\n"]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is one index only")
def test_where_the_cpu_index_is_out_of_reach_it_says_so(sandbox: Sandbox) -> None:
    done = sandbox.here("--torch", "cpu")
    assert done.returncode == 0, done.stderr
    assert "taking the default index's build" in done.stderr
    assert (sandbox.site / "torch-2.13.0.dist-info").is_dir()


def test_the_second_run_installs_nothing(sandbox: Sandbox) -> None:
    assert sandbox.here().returncode == 0
    again = sandbox.here()
    assert again.returncode == 0
    assert "is up to date" in again.stderr
    assert sandbox.calls() == []


def test_a_second_run_that_needs_more_extras_adds_them(sandbox: Sandbox) -> None:
    assert sandbox.here("--extras", "none").returncode == 0
    assert not any(a.endswith("]") for a in asked_for(sandbox.calls()))
    assert sandbox.here("--extras", "report").returncode == 0
    assert any(a.endswith("[report]") for a in asked_for(sandbox.calls()))
    assert sandbox.here("--extras", "none").returncode == 0
    assert sandbox.calls() == []


def test_without_a_compiler_the_rest_is_installed_and_fasttext_follows_later(sandbox) -> None:
    sandbox.env["CXX"] = "/nonexistent"
    done = sandbox.here()
    assert done.returncode == 0, done.stderr
    assert "there is no C++ compiler to build it: everything else is installed" in done.stderr
    assert "is up to date" in sandbox.here().stderr
    sandbox.env["CXX"] = sys.executable
    assert sandbox.here().returncode == 0
    assert any(a.startswith("fasttext-numpy2") for a in asked_for(sandbox.calls()))


def test_lost_files_are_noticed_and_mended(sandbox: Sandbox) -> None:
    sandbox.add("tqdm", "4.70.1", "tqdm.py")
    assert sandbox.here().returncode == 0
    (sandbox.site / "tqdm.py").unlink()
    done = sandbox.here()
    (main,) = (call["arguments"] for call in sandbox.calls() if "--editable" in call["arguments"])
    assert main[main.index("--reinstall-package") + 1] == "tqdm"
    # the stand-in mends nothing, and that is noticed as well
    assert done.returncode == 2
    assert "files are missing from tqdm" in done.stderr


def test_a_wheel_takes_the_place_of_the_clone_and_a_changed_one_is_noticed(sandbox: Sandbox, tmp_path: Path) -> None:
    wheel = tmp_path / "fairseq_xl-0.1.0-py3-none-any.whl"
    wheel.write_bytes(b"one")
    assert sandbox.here("--extras", "report", "--wheel", str(wheel)).returncode == 0
    (main,) = (call["arguments"] for call in sandbox.calls() if f"{wheel}[report]" in call["arguments"])
    assert "--editable" not in asked_for(sandbox.calls())
    assert main[main.index("--reinstall-package") + 1] == "fairseq-xl"
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
        (["--python", "/nonexistent/python"], "no Python 3.11, 3.12 or 3.13 found"),
        (["--torch", "newest"], "--torch newest: use auto, cpu, cuda or a version"),
        (["--wheel", "fairseq_xl-9.whl"], "--wheel fairseq_xl-9.whl: there is no wheel of fairseq_xl of that name"),
    ],
)
def test_a_wrong_option_gets_a_sentence(sandbox: Sandbox, options, sentence) -> None:
    done = sandbox.set_up("--here", *options) if "--python" in options else sandbox.here(*options)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
