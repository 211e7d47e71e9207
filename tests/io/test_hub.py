"""Folders by name, from a server that stands in for the Hub."""

from __future__ import annotations

from pathlib import Path

import pytest
from hub_server import Hub

from fairseq_xl.io import packages
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.hub import local_folder


def test_a_folder_of_the_hub(hub: type[Hub], tmp_path: Path) -> None:
    (hub.folder / "part").mkdir()
    (hub.folder / "part" / "a.txt").write_text("some text")
    for name in (hub.name, f"{hub.name}@main"):
        folder = local_folder(name)
        assert (folder / "part" / "a.txt").read_text() == "some text"
        assert folder.is_relative_to(tmp_path / "cache")


def test_a_name_that_the_hub_does_not_know(hub: type[Hub]) -> None:
    with pytest.raises(InputError, match=r"no folder nobody/nothing, and the Hub does not give .*check the name"):
        local_folder("nobody/nothing")


def test_a_hub_that_does_not_answer(hub: type[Hub], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(InputError, match=r"no folder somebody/de-en, and the Hub does not give"):
        local_folder("somebody/de-en")


def test_what_is_here_is_not_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "importlib", None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "model").mkdir(parents=True)
    for name in ("runs/model", tmp_path / "nothing", "model.pt", "a/b/c", "../x", "a/b\nc"):
        assert local_folder(name) == Path(name)


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", None)
    with pytest.raises(InputError, match=r"no folder a/b, and to look for it on the Hub needs .* --extras hub"):
        local_folder("a/b")
