"""A folder takes another's place whole, or not at all."""

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import atomic_folder


def write(output, text, fails=False):
    with atomic_folder(output, "mark", "a model") as folder:
        (folder / "mark").write_text(text)
        if fails:
            raise ZeroDivisionError


def test_a_new_folder_takes_the_place_of_an_old_one(tmp_path):
    output = tmp_path / "deep" / "out"
    write(output, "one")
    (output / "left over").touch()
    write(output, "two")
    assert [path.name for path in output.iterdir()] == ["mark"]
    assert (output / "mark").read_text() == "two"
    assert [path.name for path in output.parent.iterdir()] == ["out"]


def test_a_failure_leaves_the_old_one(tmp_path):
    write(tmp_path / "out", "one")
    with pytest.raises(ZeroDivisionError):
        write(tmp_path / "out", "two", fails=True)
    assert (tmp_path / "out" / "mark").read_text() == "one"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_what_a_killed_run_left_is_no_obstacle(tmp_path):
    for name in ("out.tmp", "out.old"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "half").touch()
    write(tmp_path / "out", "one")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mark"]


def test_other_things_are_not_replaced(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="is a file"):
        write(tmp_path / "file", "one")
    (tmp_path / "theses").mkdir()
    (tmp_path / "theses" / "thesis.tex").touch()
    with pytest.raises(InputError, match="something else than a model"):
        write(tmp_path / "theses", "one")
    assert (tmp_path / "theses" / "thesis.tex").exists()


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot write"):
        write(tmp_path / "file" / "out", "one")


def test_one_writer_at_a_time(tmp_path):
    """With the folders that both would use untouched."""
    with atomic_folder(tmp_path / "out", "mark", "a model") as folder:
        (folder / "mark").write_text("one")
        with pytest.raises(InputError, match=r"^another process writes .*/out: wait until it has ended"):
            write(tmp_path / "out", "two")
        write(tmp_path / "other", "three")
    assert (tmp_path / "out" / "mark").read_text() == "one"
    write(tmp_path / "out", "two")
    assert (tmp_path / "out" / "mark").read_text() == "two"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "out"]


def test_permissions_stay(tmp_path):
    (tmp_path / "out").mkdir(mode=0o700)
    write(tmp_path / "out", "one")
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o700
