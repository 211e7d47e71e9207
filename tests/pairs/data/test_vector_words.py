"""The words of vector files."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.data.vector_words import vector_words


@pytest.mark.parametrize(
    "content", ["2 2\nla 1 2\n new york 1 -2e-3\n", "la 1 2\nnew york 3 4 \nla 5 6\n", "\ufeffla 1 2\nnew york 3 4\n"]
)
def test_words_of_a_text_file(tmp_path, content):
    path = tmp_path / "v.vec"
    path.write_text(content, encoding="utf-8")
    found = vector_words(path)
    assert [word.strip() for word in found] == ["la", "new york"]
    assert list(found.values()) == [0, 1]


def test_words_of_an_array(tmp_path):
    np.save(tmp_path / "v.npy", np.ones((2, 3)))
    (tmp_path / "v.vocab").write_text("la\nel\n", encoding="utf-8")
    assert vector_words(tmp_path / "v.npy") == {"la": 0, "el": 1}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds no word vectors"),
        (b"word\n", "line 1: expected a word and 1 numbers"),
        (b"2 2\nla 1 2\nel 1\n", "line 3: expected a word and 2 numbers"),
        (b"la 1\n\xe9 1\n", "line 2 is not valid UTF-8"),
    ],
)
def test_files_that_are_no_vectors(tmp_path, content, message):
    path = tmp_path / "v.vec"
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        vector_words(path)
    assert message in str(error.value)


@pytest.mark.parametrize("damage", [lambda packed: packed[:-4], lambda packed: b"la 1 2\n"])
def test_damaged_gzip(tmp_path, damage):
    path = tmp_path / "v.vec.gz"
    path.write_bytes(damage(gzip.compress(b"la 1 2\n" * 100)))
    with pytest.raises(InputError, match=r"v\.vec\.gz is damaged: its gzip data"):
        vector_words(path)


def test_no_vectors(tmp_path):
    with pytest.raises(InputError, match="there is no file of word vectors"):
        vector_words(tmp_path / "v.vec")
