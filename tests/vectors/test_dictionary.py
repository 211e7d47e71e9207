from __future__ import annotations

from pathlib import Path

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.vectors.dictionary import read_dictionary


def test_what_fairseq_writes_is_read_without_its_fillers(tmp_path: Path) -> None:
    fairseq_data = pytest.importorskip("fairseq.data")
    dictionary = fairseq_data.Dictionary()
    for word, count in (("the", 9), ("Straße", 4), ("madeupword", 3), ("c\x85d", 1)):
        dictionary.add_symbol(word, count)
    dictionary.finalize(padding_factor=16)
    dictionary.save(str(tmp_path / "dict.txt"))
    assert "madeupword0000 0" in (tmp_path / "dict.txt").read_text()
    assert list(read_dictionary(tmp_path / "dict.txt").items()) == [
        ("the", 9),
        ("Straße", 4),
        ("madeupword", 3),
        ("c\x85d", 1),
    ]


def test_special_tokens_and_flags_are_understood(tmp_path: Path) -> None:
    (tmp_path / "d").write_text("<unk> 3 #fairseq:overwrite\nb 2 #fairseq:overwrite\n")
    assert read_dictionary(tmp_path / "d") == {"b": 2}


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"a 1\nb\n", "line 2: expected 'word count', found 'b'"),
        (b"a 1\nb x\n", "line 2: expected"),
        (b"a 1\n\nb 1\n", "line 2: expected"),
        (b"a 1\nb 1\na 3\n", "line 3: the word 'a' is there a second time"),
        (b"a 1\n\xff 1\n", "line 2 is not valid UTF-8"),
        (b"", "holds no words"),
        (b"madeupword0000 0\n", "holds no words"),
    ],
)
def test_a_damaged_dictionary_is_named_with_its_line(tmp_path: Path, data: bytes, sentence: str) -> None:
    (tmp_path / "d").write_bytes(data)
    with pytest.raises(InputError, match=sentence):
        read_dictionary(tmp_path / "d")


def test_what_is_no_dictionary_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a directory"):
        read_dictionary(tmp_path)
    with pytest.raises(InputError, match="no dictionary file at"):
        read_dictionary(tmp_path / "none")
