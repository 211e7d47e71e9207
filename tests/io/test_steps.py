"""Steps that are done once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.steps import is_done, read_counts, run_once, signature


@dataclass
class Settings:
    size: int = 3
    folder: Path = Path("a")
    sides: tuple[str, str] = ("en", "fr")


@pytest.fixture
def step(tmp_path):
    """``step(settings=…, again=…)`` does a step with one input; its result is the counts, or None if it was done."""
    (tmp_path / "in").write_text("text")

    def run(settings=None, again=False, work=lambda: {"lines": 1}, outputs=()):
        inputs = [tmp_path / "in"]
        counts, before = run_once(
            tmp_path / "records" / "step.json", settings or Settings(), inputs, work, outputs=outputs, again=again
        )
        return None if before else counts

    return run


def test_a_step_is_done_once(step):
    assert step() == {"lines": 1}
    assert step() is None
    assert step(again=True) == {"lines": 1}


def test_again_with_other_settings(step):
    step()
    assert step(Settings(size=4)) == {"lines": 1}
    assert step(Settings(size=4)) is None
    assert step(Settings(folder=Path("b"))) == {"lines": 1}
    assert step(Settings(sides=("en", "es"))) == {"lines": 1}
    assert step({"any": ["thing"]}) == {"lines": 1}
    assert step({"any": ("thing",)}) is None


def test_again_with_other_inputs_by_their_content(step, tmp_path):
    step()
    (tmp_path / "in").unlink()
    (tmp_path / "in").write_text("text")
    assert step() is None
    (tmp_path / "in").write_text("test")
    assert step() == {"lines": 1}


def test_inputs_of_the_same_name_are_told_apart(tmp_path):
    for folder in "ab":
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x").write_text(folder)
    one, other = (signature({}, [tmp_path / name / "x" for name in names]) for names in ("ab", "ba"))
    assert one != other


def test_a_folder_is_what_its_files_are(tmp_path):
    folder = tmp_path / "model"
    (folder / "part").mkdir(parents=True)
    (folder / "part" / "x").write_text("1")
    found = [signature({}, [folder])]
    (folder / "part" / "x").write_text("2")
    found.append(signature({}, [folder]))
    (folder / "part" / "x").rename(folder / "x")
    found.append(signature({}, [folder]))
    assert len({str(each) for each in found}) == 3
    (folder / "part" / "x").write_text("1")
    (folder / "x").unlink()
    assert signature({}, [folder]) == found[0]


def test_a_missing_input(step, tmp_path):
    (tmp_path / "in").unlink()
    with pytest.raises(InputError, match="in is missing: run the step before this one"):
        step()


def test_again_without_what_it_wrote(step, tmp_path):
    output = tmp_path / "out"

    def work():
        output.write_text("")
        return {}

    assert step(work=work, outputs=[output]) == {}
    assert step(work=work, outputs=[output]) is None
    output.unlink()
    assert step(work=work, outputs=[output]) == {}


def test_a_step_that_fails_is_not_done_even_if_it_was(step):
    def fails():
        raise KeyboardInterrupt

    step()
    with pytest.raises(KeyboardInterrupt):
        step(Settings(size=4), work=fails)
    assert step(Settings(size=4)) == {"lines": 1}
    with pytest.raises(KeyboardInterrupt):
        step(again=True, work=fails)
    assert step(Settings(size=4)) == {"lines": 1}  # what is there may be half of the other's


def test_the_record_says_what_was_done(step, tmp_path):
    step()
    record = tmp_path / "records" / "step.json"
    found = json.loads(record.read_text())
    assert found["counts"] == read_counts(record) == {"lines": 1}
    assert found["settings"] == {"size": 3, "folder": "a", "sides": ["en", "fr"]}
    assert [name for name, _ in found["inputs"]] == ["in"]


@pytest.mark.parametrize("content", [None, "", "[]", "{"])
def test_no_record(tmp_path, content):
    record = tmp_path / "record"
    if content is not None:
        record.write_text(content)
    assert read_counts(record) == {}
    assert not is_done(record, signature({}, []))
