"""The doctor agrees with setup.py and runs where nothing is installed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.cli import doctor


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


def test_it_examines_exactly_what_setup_py_asks_for(setup_arguments) -> None:
    asked = {(requirement, None) for requirement in setup_arguments["install_requires"]}
    for extra, requirements in setup_arguments["extras_require"].items():
        if extra != "all":
            asked |= {(requirement, extra) for requirement in requirements}
    assert {(p.distribution + p.bounds, p.extra) for p in doctor.PACKAGES} == asked


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter with nothing but the standard library."""
    folder = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return folder / "bin" / "python"


def test_without_torch_and_fairseq_it_says_how_to_get_them(bare_python, run_cli) -> None:
    done = run_cli("doctor", python=bare_python, env={"PATH": "/usr/bin:/bin"})
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert f"{bare_python} -m pip install 'torch>=2.6'" in done.stdout
    assert "--no-deps 'fairseq-fixed==0.12.3.1'" in done.stdout
    assert "not ready: torch, fairseq-fixed" in done.stdout


def test_json_says_the_same_to_a_program(bare_python, run_cli) -> None:
    done = run_cli("doctor", "--json", python=bare_python, env={"PATH": "/usr/bin:/bin"})
    report = json.loads(done.stdout)
    by_name = {check["name"]: check for check in report["checks"]}
    assert done.returncode == 1
    assert report["ok"] is False
    assert by_name["Python"]["status"] == "ok"
    assert by_name["torch"]["status"] == "missing"
    assert by_name["torch"]["required"]
    assert not by_name["fasttext-numpy2"]["required"]
    assert all(check["remedy"] for check in report["checks"] if check["status"] == "missing")


def fake_distribution(site: Path, name: str, version: str, module: str, source: str) -> None:
    (site / f"{name}-{version}.dist-info").mkdir()
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (site / f"{name}-{version}.dist-info" / "METADATA").write_text(metadata)
    (site / f"{module}.py").write_text(source)


def package(**changes: object) -> doctor.Package:
    facts = {"distribution": "trial-dist", "module": "trial_mod", "bounds": ">=2", "purpose": "a test"}
    return doctor.Package(**{**facts, **changes})


@pytest.mark.parametrize(
    ("version", "source", "status"),
    [("2.1", "", "ok"), ("1.9", "", "outdated"), ("2.1", "raise ImportError('libx.so is not there')", "broken")],
)
def test_what_is_found_of_a_package(version, source, status, tmp_path, monkeypatch) -> None:
    fake_distribution(tmp_path, "trial_dist", version, "trial_mod", source)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "trial_mod", raising=False)
    check = doctor.check_package(package())
    assert (check.status, check.version) == (status, version)
    assert check.fatal == (status != "ok")
    assert (check.remedy is None) == (status == "ok")
    if status == "broken":
        assert "libx.so is not there" in check.detail
    sys.modules.pop("trial_mod", None)


def test_a_module_from_another_distribution_is_not_taken_for_it(tmp_path, monkeypatch) -> None:
    (tmp_path / "trial_mod.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    check = doctor.check_package(package())
    assert check.status == "outdated"
    assert "another distribution" in check.detail


def test_a_missing_extra_does_not_fail(tmp_path) -> None:
    check = doctor.check_package(package(extra="trial", required=False))
    assert check.status == "missing"
    assert not check.fatal


@pytest.mark.slow  # imports everything there is
def test_here_everything_required_is_there(run_cli) -> None:
    done = run_cli("doctor", "--json")
    report = json.loads(done.stdout)
    assert [check for check in report["checks"] if check["required"] and check["status"] != "ok"] == []
    assert done.returncode == 0
    assert report["ok"] is True
