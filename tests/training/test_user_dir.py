"""A package of the user's own is imported, or one sentence says why not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import fairseq_xl
from fairseq_xl.io.errors import InputError


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """``package("name", "code")`` writes a package."""
    monkeypatch.setattr(sys, "path", list(sys.path))

    def write(name: str, code: str) -> Path:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        (folder / "__init__.py").write_text(code)
        return folder

    return write


def test_a_package_is_imported_once(package):
    folder = package("models_imported_once", "import fairseq_xl\ntimes = 1\n")
    fairseq_xl.register(folder)
    sys.modules["models_imported_once"].times = 2
    fairseq_xl.register(str(folder))
    assert sys.modules.pop("models_imported_once").times == 2


def test_one_that_fails_says_where_each_time_and_can_be_mended(package):
    folder = package("models_that_fail", "\nraise ValueError('no such thing')\n")
    for _ in range(2):
        with pytest.raises(InputError) as caught:
            fairseq_xl.register(folder)
        assert str(caught.value) == (
            f"--user-dir {folder}: importing the package failed in {folder}/__init__.py, line 2 "
            "(ValueError: no such thing)"
        )
    package("models_that_fail", "")
    fairseq_xl.register(folder)
    assert sys.modules.pop("models_that_fail")


def test_what_is_no_package(tmp_path, package):
    with pytest.raises(InputError, match=r"there is no __init__.py in it; name the folder of a Python package"):
        fairseq_xl.register(tmp_path)
    with pytest.raises(InputError, match=r"\(json\) is not globally unique"):
        fairseq_xl.register(package("json", ""))
