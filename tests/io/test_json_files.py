"""JSON that a command wrote: what else can be there is one sentence."""

from pathlib import Path

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.json_files import loads, opened_json


def read(path: Path) -> float:
    with opened_json(path, "record", "make it again", "`make` makes one") as found:
        if not found["scores"]:
            raise InputError(f"{path} has no scores: score first")
        return float(found["scores"][0]["bleu"])


def test_the_block_gets_what_the_file_holds(tmp_path):
    path = tmp_path / "r.json"
    path.write_text('{"scores": [{"bleu": 37.5}]}', encoding="utf-8")
    assert read(path) == 37.5


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"scores": ', "r.json is no record (Expecting value: line 1 column 12 (char 11)): make it again"),
        (b"[" * 100_000, "r.json is no record (nested too deeply): make it again"),
        (b'{"scores": "\xff"}', "r.json is no record (it is no text in UTF-8): make it again"),
        (b'{"other": 1}', "r.json is no record ('scores' is missing): make it again"),
        (b"[]", "r.json is no record (list indices must be integers or slices, not str): make it again"),
        (b'{"scores": {"1": 2}}', "r.json is no record (0 is missing): make it again"),
        (b'{"scores": [{"bleu": "high"}]}', "r.json is no record (could not convert string to float: 'high'): "),
        (b'{"scores": []}', "r.json has no scores: score first"),
    ],
)
def test_something_else_is_named_with_the_reason_and_the_remedy(tmp_path, content, said):
    path = tmp_path / "r.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        read(path)
    assert said in str(error.value)


def test_what_is_missing_or_cannot_be_read_is_named(tmp_path):
    with pytest.raises(InputError, match=r"there is no record .*r\.json: `make` makes one"):
        read(tmp_path / "r.json")
    with pytest.raises(InputError, match=r"cannot read the record .*: Is a directory"):
        read(tmp_path)


def test_other_exceptions_of_the_block_pass(tmp_path):
    path = tmp_path / "r.json"
    path.write_text("1", encoding="utf-8")
    with pytest.raises(ZeroDivisionError), opened_json(path, "number", "write one") as found:
        found / 0


def test_loads_raises_value_errors_alone():
    assert loads("[1, 2]") == [1, 2]
    with pytest.raises(ValueError, match="nested too deeply"):
        loads("[" * 100_000)
