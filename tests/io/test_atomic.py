from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from fairseq_xl.io import atomic
from fairseq_xl.io.atomic import atomic_outputs, atomic_text, atomic_texts, hidden_name, text_output
from fairseq_xl.io.errors import InputError


def test_outputs_appear_together_when_the_block_ends(tmp_path: Path) -> None:
    a, b = tmp_path / "new" / "a", tmp_path / "new" / "b"
    with atomic_outputs(a, b) as temporary:
        for path in temporary:
            path.write_text("complete")
        assert not a.exists()
        assert not b.exists()
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["a", "b"]
    assert a.read_text() == "complete"


@pytest.mark.parametrize("error", [RuntimeError(), KeyboardInterrupt(), InputError("no")], ids=repr)
def test_an_error_leaves_what_was_there(tmp_path: Path, error: BaseException) -> None:
    (tmp_path / "a").write_text("old")

    def fail_half_way() -> None:
        with atomic_outputs(tmp_path / "a") as (temporary,):
            temporary.write_text("half")
            raise error

    with pytest.raises(type(error)):
        fail_half_way()
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_text() == "old"


def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a directory"), atomic_outputs(tmp_path):
        pass
    (tmp_path / "file").touch()
    place = tmp_path / "file" / "x"
    with pytest.raises(InputError, match=r"cannot make the folder of .*x"), atomic_outputs(place):
        pass
    full = OSError(errno.ENOSPC, "No space left on device")
    wanted = tmp_path / "x"
    with pytest.raises(InputError, match=r"cannot write .*x: No space"), atomic_outputs(wanted):
        raise full


def test_trouble_with_another_file_is_not_blamed_on_the_output(tmp_path: Path) -> None:
    other = PermissionError(errno.EACCES, "Permission denied", str(tmp_path / "input"))
    with pytest.raises(PermissionError), atomic_outputs(tmp_path / "x"):
        raise other


def test_a_text_goes_to_standard_output_where_no_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    for place in (None, tmp_path / "x"):
        with text_output(place) as stream:
            stream.write("é\n")
    assert capsys.readouterr().out == (tmp_path / "x").read_text(encoding="utf-8") == "é\n"
    print("still open")
    assert capsys.readouterr().out == "still open\n"


def test_a_link_stays_and_permissions_stay(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o600)
    (tmp_path / "link").symlink_to("real")
    with atomic_text(tmp_path / "link") as stream:
        stream.write("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "real"]


def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with atomic_text(pipe) as stream:
        stream.write("through")
    assert os.read(reading, 100) == b"through"
    os.close(reading)
    assert pipe.is_fifo()


def test_streams_of_the_process_are_written_to_as_they_are(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    with atomic_text(f"/dev/fd/{writing}") as stream:
        stream.write("through")
    assert os.read(reading, 100) == b"through"
    log = tmp_path / "log"
    log.write_text("kept\n")
    refused = pytest.raises(InputError, match=f"leads to the file {log}, so name that")
    with log.open("a") as file, refused, atomic_text(f"/dev/fd/{file.fileno()}"):
        pytest.fail("what others wrote there would go")
    assert log.read_text() == "kept\n"


def test_what_a_killed_writer_left_goes_and_nothing_else(tmp_path: Path) -> None:
    left = tmp_path / ".table.vec.0123456789ab.tmp"
    kept = tmp_path / ".mine.tmp"
    with atomic_outputs(tmp_path / "other") as (at_work,):
        left.touch()
        kept.touch()
        atomic._swept.clear()
        hidden_name(tmp_path / "x")
        assert at_work.exists(), "its writer is alive"
        at_work.write_text("whole")
        assert not left.exists()
    assert kept.exists()


def test_a_file_that_was_swept_before_it_was_locked_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    flock, swept = atomic.fcntl.flock, []

    def late(file, operation):
        if not swept:
            swept.extend(tmp_path.iterdir())
            swept[0].unlink()
        flock(file, operation)

    monkeypatch.setattr(atomic.fcntl, "flock", late)
    with atomic_outputs(tmp_path / "x") as (name,):
        assert [name] == [*tmp_path.iterdir()] != swept
        assert atomic.is_held(name)
        name.write_text("whole")
    assert (tmp_path / "x").read_text() == "whole"


def test_a_lock_that_was_removed_meanwhile_locks_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    lock, flock = tmp_path / "lock", atomic.fcntl.flock

    def late(file, operation):
        lock.unlink()
        flock(file, operation)

    monkeypatch.setattr(atomic.fcntl, "flock", late)
    with pytest.raises(InputError, match="another"), atomic.exclusive_lock(lock, "another"):
        pass


def test_a_loop_of_links_is_a_mistake(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.symlink_to(other)
    other.symlink_to(one)
    with pytest.raises(InputError, match=r"one: it is one of a loop of links"), atomic_outputs(one):
        pytest.fail("nothing can be written there")


def test_of_two_texts_none_is_renamed_before_both_are_whole(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    both = (tmp_path / "a", Path("/dev/full"))
    with pytest.raises(InputError, match="No space left"), atomic_texts(*both) as streams:
        print("new", file=streams[1])
    assert (tmp_path / "a").read_text() == "old"
    with atomic_texts(tmp_path / "a", tmp_path / "b") as streams:
        for stream in streams:
            stream.write("new\n")
    assert [path.read_bytes() for path in sorted(tmp_path.iterdir())] == [b"new\n"] * 2
