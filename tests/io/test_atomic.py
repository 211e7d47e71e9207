from __future__ import annotations

import errno
from pathlib import Path

import pytest

from fairseq_xl.io.atomic import atomic_outputs
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
