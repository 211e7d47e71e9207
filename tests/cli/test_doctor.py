"""The doctor agrees with the metadata and runs where nothing is installed."""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import json
import subprocess
import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.cli import doctor

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("version", "bounds", "fits"),
    [
        ("2.13.0+cpu", ">=2.6", True),
        ("2.5.1", ">=2.6", False),
        ("2.6", ">=2.6.0", True),
        ("1.3.2", "==1.3.2", True),
        ("1.3.8", "==1.3.2", False),
        ("3.0.0rc1", ">=1.26,<3", False),
        ("2.4.6", ">=1.26,<3", True),
        ("1.4", ">=1.3,<1.4", False),
        ("2.15.0a0+git12ab", ">=2.6", True),
    ],
)
def test_bounds(version: str, bounds: str, fits: bool) -> None:
    assert doctor.within(version, bounds) is fits


@given(st.lists(st.integers(0, 99), min_size=1, max_size=4))
def test_a_version_is_within_its_own_bounds(numbers: list[int]) -> None:
    version = ".".join(map(str, numbers))
    following = f"{numbers[0] + 1}"
    assert doctor.within(version, f"=={version}")
    assert doctor.within(version, f">={version},<{following}")
    assert not doctor.within(following, f"<{following}")


def metadata(project: dict[str, Any]) -> list[str]:
    """What the metadata of an installed fairseq-xl ask for."""
    asked = list(project["dependencies"])
    for extra, requirements in project["optional-dependencies"].items():
        asked += [f'{requirement}; extra == "{extra}"' for requirement in requirements]
    return asked


def test_it_examines_what_the_metadata_ask_for(project) -> None:
    packages = doctor.packages(metadata(project))
    required = project["dependencies"]
    assert [p.distribution + p.bounds for p in packages if not p.extras] == required
    by_extra = {(p.distribution + p.bounds, extra) for p in packages for extra in p.extras}
    extras = {name: asked for name, asked in project["optional-dependencies"].items() if name != "all"}
    assert by_extra == {(requirement, extra) for extra, asked in extras.items() for requirement in asked}
    assert extras.keys() == doctor.PURPOSES.keys()


def test_modules_of_installed_packages_are_found(project) -> None:
    used = [package for package in doctor.packages(metadata(project)) if package.extras != ("test",)]
    for package in used:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            importlib.metadata.version(package.distribution)
            assert importlib.util.find_spec(package.module), package


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter with nothing but the standard library."""
    folder = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return folder / "bin" / "python"


@pytest.fixture
def alone(bare_python, project, tmp_path) -> dict[str, Any]:
    """Arguments of ``run_cli`` for that interpreter, in which fairseq-xl is installed and nothing of what it needs."""
    asked = "".join(f"Requires-Dist: {requirement}\n" for requirement in metadata(project))
    fake_distribution(tmp_path, "fairseq_xl", "0.1.0", metadata=asked)
    return {"python": bare_python, "cwd": tmp_path, "env": {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(tmp_path)}}


def test_without_torch_and_fairseq_it_says_how_to_get_them(alone, run_cli) -> None:
    done = run_cli("doctor", **alone)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert f"{alone['python']} -m pip install 'torch>=2.6,<3'" in done.stdout
    assert "--no-deps 'fairseq-fixed==0.12.3.1'" in done.stdout
    assert "not ready: torch, fairseq-fixed" in done.stdout


def test_a_checkout_that_is_not_installed(bare_python: Path, cli_code: str, tmp_path: Path) -> None:
    (tmp_path / "fairseq_xl").symlink_to(
        ROOT / "fairseq_xl"
    )  # alone: beside it there may be an installation's metadata
    command = [str(bare_python), "-c", cli_code, "doctor"]
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "get it: bash scripts/setup.sh" in done.stdout
    assert "not ready: plugin" in done.stdout


def test_json_says_the_same_to_a_program(alone, run_cli) -> None:
    done = run_cli("doctor", "--json", **alone)
    report = json.loads(done.stdout)
    by_name = {check["name"]: check for check in report["checks"]}
    assert done.returncode == 1
    assert report["ok"] is False
    assert by_name["Python"]["status"] == "ok"
    assert by_name["torch"]["status"] == "missing"
    assert by_name["torch"]["required"]
    assert not by_name["fasttext-numpy2"]["required"]
    assert all(check["remedy"] for check in report["checks"] if check["status"] == "missing")


def fake_distribution(site: Path, name: str, version: str, metadata: str = "") -> None:
    (site / f"{name}-{version}.dist-info").mkdir()
    text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{metadata}"
    (site / f"{name}-{version}.dist-info" / "METADATA").write_text(text)


TRIAL = doctor.Package("trial_mod", ">=2")


@pytest.mark.parametrize(
    ("version", "source", "status"),
    [("2.1", "", "ok"), ("1.9", "", "outdated"), ("2.1", "raise ImportError('libx.so is not there')", "broken")],
)
def test_what_is_found_of_a_package(version, source, status, tmp_path, monkeypatch) -> None:
    fake_distribution(tmp_path, "trial_mod", version)
    (tmp_path / "trial_mod.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "trial_mod", raising=False)
    check = doctor.check_package(TRIAL)
    assert (check.status, check.version) == (status, version)
    assert check.fatal == (status != "ok")
    assert (check.remedy is None) == (status == "ok")
    if status == "broken":
        assert "libx.so is not there" in check.detail
    sys.modules.pop("trial_mod", None)


def test_a_module_from_another_distribution_is_not_taken_for_it(tmp_path, monkeypatch) -> None:
    (tmp_path / "trial_mod.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    check = doctor.check_package(TRIAL)
    assert check.status == "outdated"
    assert "another distribution" in check.detail


def test_a_missing_extra_does_not_fail(tmp_path) -> None:
    check = doctor.check_package(replace(TRIAL, extras=("trial",)))
    assert check.status == "missing"
    assert not check.fatal


@pytest.mark.slow  # imports everything there is
def test_here_everything_required_is_there(forked_cli) -> None:
    done = forked_cli("doctor", "--json")
    report = json.loads(done.stdout)
    assert [check for check in report["checks"] if check["required"] and check["status"] != "ok"] == []
    assert done.returncode == 0
    assert report["ok"] is True


def test_a_torch_whose_libraries_are_missing_is_no_traceback(tmp_path, monkeypatch) -> None:
    (tmp_path / "torch.py").write_text("raise OSError('libcudart.so.12: cannot open shared object file')\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "torch")
    assert doctor.check_cuda().detail == "unknown without a torch that works"


def test_where_fairseq_finds_the_plugin(tmp_path, monkeypatch) -> None:
    """What the page on installing says of a relative path, and what it says to do."""
    from fairseq import utils

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(utils, "__file__", str(tmp_path / "site" / "fairseq" / "utils.py"))  # nothing beside fairseq
    with pytest.raises(FileNotFoundError) as caught:
        utils.import_user_module(Namespace(user_dir="fairseq_xl"))
    assert str(caught.value) == str(tmp_path / "fairseq_xl")
    page = (ROOT / "docs" / "how-to" / "install.md").read_text(encoding="utf-8")
    assert "`FileNotFoundError: /your/folder/fairseq_xl`" in page
    assert doctor.check_plugin().detail == f"--user-dir {ROOT / 'fairseq_xl'}"
    utils.import_user_module(Namespace(user_dir=str(ROOT / "fairseq_xl")))
