"""A folder takes another's place whole, or not at all."""

import os

import pytest

from fairseq_xl.io import folders
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import WRITTEN, atomic_folder, own_files, read_manifest


def write(output, text, fails=False, also=None):
    with atomic_folder(output, "mark", "a model") as folder:
        (folder / "mark").write_text(text)
        if also:
            (folder / also).parent.mkdir()
            (folder / also).touch()
        if fails:
            raise ZeroDivisionError


def test_a_new_folder_takes_the_place_of_an_old_one(tmp_path):
    output = tmp_path / "deep" / "out"
    write(output, "one", also="deeper/left over")
    write(output, "two")
    assert names(output) == ["mark"]
    assert (output / "mark").read_text() == "two"
    assert [path.name for path in output.parent.iterdir()] == ["out"]


def names(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.name != WRITTEN)


def test_what_the_user_put_inside_is_not_replaced(tmp_path):
    output = tmp_path / "out"
    write(output, "one", also="deeper/ours")
    (output / "deeper" / "notes").write_text("mine")
    with pytest.raises(InputError, match=r"out holds 'deeper/notes', which is not of a model: move it elsewhere first"):
        write(output, "two")
    assert names(output) == ["deeper", "deeper/notes", "deeper/ours", "mark"]
    assert (output / "mark").read_text() == "one"
    (output / "deeper" / "notes").unlink()
    (output / "deeper" / "link").symlink_to(tmp_path)
    with pytest.raises(InputError, match="holds 'deeper/link'"):
        write(output, "two")


def test_a_folder_that_only_looks_like_one_is_not_replaced(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mark").write_text("mine")
    with pytest.raises(InputError, match="holds 'mark', which is not of a model"):
        write(tmp_path / "out", "one")
    assert names(tmp_path) == ["out", "out/mark"]


def share(folder, fails=False, **texts):
    with own_files(folder, "a report") as hidden:
        for name, text in texts.items():
            (hidden / "deep").mkdir(exist_ok=True)
            (hidden / "deep" / name).write_text(text)
        if fails:
            raise ZeroDivisionError


def test_files_among_those_of_others(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "mine").write_text("mine")
    share(tmp_path, one="1", two="2")
    with pytest.raises(ZeroDivisionError):
        share(tmp_path, fails=True, one="not yet")
    share(tmp_path, one="11", three="3")
    assert names(tmp_path) == ["deep", "deep/mine", "deep/one", "deep/three"]
    assert (tmp_path / "deep" / "one").read_text() == "11"
    (tmp_path / "deep" / "three").write_text("changed")
    for also in ({"three": "3"}, {"mine": "4"}):
        with pytest.raises(InputError, match=r"deep/(three|mine) is not as a report wrote it: move it elsewhere"):
            share(tmp_path, one="12", **also)
    assert (tmp_path / "deep" / "one").read_text() == "11", "nothing is written before all is well"
    share(tmp_path, one="13")
    assert (tmp_path / "deep" / "three").read_text() == "changed", "it is the user's now"
    assert (tmp_path / "deep" / "mine").read_text() == "mine"


def test_files_of_another_call_stay_where_they_are_to(tmp_path):
    def write(stays=lambda _: False, **files):
        with own_files(tmp_path, "a test", stays) as folder:
            for name, text in files.items():
                (folder / name).write_text(text)

    write(one="1", two="2")
    write(lambda name: name == "one", three="3")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".written", "one", "three"]
    write(two="4")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".written", "two"], "it was still known as ours"


def test_a_failure_leaves_no_folder_and_a_file_is_none(tmp_path):
    with pytest.raises(ZeroDivisionError):
        share(tmp_path / "new", fails=True, one="1")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ZeroDivisionError):
        share(tmp_path / "empty", fails=True, one="1")
    assert names(tmp_path) == ["empty"]
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"cannot write .*file"):
        share(tmp_path / "file", one="1")


def test_a_kill_among_the_renames_leaves_files_that_are_known(tmp_path, monkeypatch):
    share(tmp_path, one="1", two="2")
    renamed = os.replace

    def killed(source, target):
        if str(target).endswith("two"):
            raise KeyboardInterrupt
        renamed(source, target)

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        share(tmp_path, one="11", two="22")
    monkeypatch.undo()
    assert [(tmp_path / "deep" / name).read_text() for name in ("one", "two")] == ["11", "2"]
    share(tmp_path, one="111", two="222")
    assert [(tmp_path / "deep" / name).read_text() for name in ("one", "two")] == ["111", "222"]


def test_there_is_no_moment_without_the_folder(tmp_path, monkeypatch):
    write(tmp_path / "out", "one")

    def killed(*_):
        pytest.fail("a kill between two renames would leave none")

    with monkeypatch.context() as patched:
        patched.setattr(folders.os, "rename", killed)
        write(tmp_path / "out", "two")
    assert (tmp_path / "out" / "mark").read_text() == "two"
    monkeypatch.setattr(folders, "_exchanged", lambda *_: False)  # as on other systems
    write(tmp_path / "out", "three")
    assert (tmp_path / "out" / "mark").read_text() == "three"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


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
    assert names(tmp_path / "out") == ["mark"]


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


def test_a_loop_of_links_stays(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InputError, match="loop: it is one of a loop of links"):
        write(tmp_path / "loop", "one")
    with pytest.raises(InputError, match="loop: it is one of a loop of links"):
        share(tmp_path / "loop", a="1")
    assert [path.name for path in tmp_path.iterdir()] == ["loop"]


def test_a_folder_that_is_none_and_one_that_was_meant(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"file is a file: give a folder, as `make` makes it"):
        read_manifest(tmp_path / "file" / "m.json", 1, "make")
    with pytest.raises(InputError, match=r"m.json is missing: `make` makes such a folder"):
        read_manifest(tmp_path / "m.json", 1, "make")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "m.json").touch()
    with pytest.raises(InputError, match=r"m.json is missing: did you mean .*model\?"):
        read_manifest(tmp_path / "m.json", 1, "make")
