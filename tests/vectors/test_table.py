"""Whatever the format: the same words and numbers come back, and only those that were asked for."""

from __future__ import annotations

import gzip
import logging
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fairseq_xl.io.errors import InputError
from fairseq_xl.vectors.table import WordVectors, read_vectors, read_words, write_vectors

WRITABLE = ["x.vec", "x.txt", "x.vec.gz", "x.npy"]


@pytest.fixture
def toy() -> WordVectors:
    matrix = np.array([[1, 2, 3], [-1, 0, 0.5], [0.1, 1e-30, 3e38]], dtype=np.float32)
    return WordVectors(["the", "Straße", "."], matrix)


def test_a_table_knows_its_rows_and_dimension(toy: WordVectors) -> None:
    assert toy.index == {"the": 0, "Straße": 1, ".": 2}
    assert (toy.dim, len(toy), toy.matrix.dtype) == (3, 3, np.float32)


def test_a_table_refuses_a_matrix_of_another_length() -> None:
    with pytest.raises(ValueError, match="2 words do not fit"):
        WordVectors(["a", "b"], np.ones((3, 4), dtype=np.float32))


def test_select_keeps_the_order_asked_for(toy: WordVectors) -> None:
    chosen = toy.select([".", "nowhere", "the", "."])
    assert chosen.words == [".", "the"]
    np.testing.assert_array_equal(chosen.matrix, toy.matrix[[2, 0]])


# Words as tokenisers of web text leave them: other scripts, other line separators, inner spaces.
web_words = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="\n\r\t\v\f\0 "), min_size=1)
    | st.sampled_from(["New York", ". . .", "Route 66", "a\u2028b", "c\x85d", "\u00a0", "1", "nan"]),
    min_size=1,
    max_size=8,
    unique=True,
)
numbers = st.floats(width=32, allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize("name", WRITABLE)
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), words=web_words, dim=st.integers(1, 5))
def test_what_is_written_is_read_back_exactly(
    name: str, tmp_path: Path, data: st.DataObject, words: list[str], dim: int
) -> None:
    matrix = data.draw(arrays(np.float32, (len(words), dim), elements=numbers))
    matrix[:, 0][~matrix.any(axis=1)] = 1  # all-zero vectors are refused, as another test shows
    write_vectors(tmp_path / name, WordVectors(words, matrix))
    back = read_vectors(tmp_path / name, progress=False)
    assert back.words == read_words(tmp_path / name) == words
    np.testing.assert_array_equal(back.matrix, matrix)
    wanted = data.draw(st.lists(st.sampled_from([*words, "not there"]), unique=True))
    some = read_vectors(tmp_path / name, words=wanted, dim=dim, progress=False)
    assert some.words == [word for word in wanted if word in words]
    assert some.matrix.shape == (len(some.words), dim)
    for word, row in zip(some.words, some.matrix, strict=True):
        np.testing.assert_array_equal(row, matrix[words.index(word)])


@pytest.mark.parametrize("name", WRITABLE)
def test_a_set_of_words_gives_the_same_order_in_every_run(name: str, tmp_path: Path, toy: WordVectors) -> None:
    write_vectors(tmp_path / name, toy)
    assert read_vectors(tmp_path / name, words={"the", "Straße", "."}).words == [".", "Straße", "the"]


def test_a_string_is_not_a_collection_of_words(tmp_path: Path, toy: WordVectors) -> None:
    write_vectors(tmp_path / "x.vec", toy)
    with pytest.raises(TypeError, match="collection of words"):
        read_vectors(tmp_path / "x.vec", words="the")


@pytest.mark.parametrize("name", [*WRITABLE, "x.bin"])
def test_what_is_no_file_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"no file of word vectors at .*{name}"):
        read_vectors(tmp_path / name)
    (tmp_path / name).mkdir()
    with pytest.raises(InputError, match=f"{name} is a directory"):
        read_vectors(tmp_path / name)


@pytest.mark.parametrize("name", [*WRITABLE, "x.bin"])
def test_an_empty_file_is_named(name: str, tmp_path: Path) -> None:
    (tmp_path / name).touch()
    with pytest.raises(InputError, match=f"{name} is empty"):
        read_vectors(tmp_path / name)


@pytest.mark.parametrize("name", ["cc.en.300.bin.gz", "glove.zip", "x.npz", "model.ftz"])
def test_packed_files_must_be_unpacked_first(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"PK..")
    with pytest.raises(InputError, match=f"{name} has a format .* unpack"):
        read_vectors(tmp_path / name)


@pytest.mark.parametrize("name", WRITABLE)
def test_another_dimension_is_refused(name: str, tmp_path: Path, toy: WordVectors) -> None:
    write_vectors(tmp_path / name, toy)
    with pytest.raises(InputError, match=f"{name} holds vectors of dimension 3, .* 300 is needed"):
        read_vectors(tmp_path / name, dim=300)


@pytest.mark.parametrize("name", WRITABLE)
@pytest.mark.parametrize(
    ("value", "fault"), [(np.nan, "NaN or infinity"), (-np.inf, "NaN or infinity"), (0, "all zeros")]
)
def test_an_unusable_vector_is_named(name: str, value: float, fault: str, tmp_path: Path, toy: WordVectors) -> None:
    toy.matrix[1] = value
    write_vectors(tmp_path / name, toy)
    with pytest.raises(InputError, match=rf"{name}, (line 3|row 2): .*'Straße' .*{fault}"):
        read_vectors(tmp_path / name)
    # Only what is kept is judged.
    assert read_vectors(tmp_path / name, words=["the"]).words == ["the"]


@pytest.mark.parametrize("name", WRITABLE)
def test_of_a_repeated_word_the_first_vector_counts(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    matrix = np.arange(1, 9, dtype=np.float32).reshape(4, 2)
    write_vectors(tmp_path / name, WordVectors(["a", "b", "a", "a"], matrix))
    with caplog.at_level(logging.WARNING):
        table = read_vectors(tmp_path / name)
    assert table.words == ["a", "b"]
    np.testing.assert_array_equal(table.matrix, matrix[:2])
    assert f"{name}: 2 repeated words" in caplog.text


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_permission_is_named(tmp_path: Path, toy: WordVectors) -> None:
    write_vectors(tmp_path / "x.vec", toy)
    (tmp_path / "x.vec").chmod(0)
    with pytest.raises(InputError, match="may not be read"):
        read_vectors(tmp_path / "x.vec")


@pytest.mark.parametrize("name", ["x.bin", "x.pt", "x.vec.bz2", "x"])
def test_other_suffixes_are_not_written(name: str, tmp_path: Path, toy: WordVectors) -> None:
    with pytest.raises(InputError, match="its name must end in"):
        write_vectors(tmp_path / name, toy)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", WRITABLE)
def test_a_failed_write_leaves_the_old_file_and_nothing_else(name: str, tmp_path: Path, toy: WordVectors) -> None:
    write_vectors(tmp_path / name, toy)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(InputError, match=r"'bad\\nword' cannot be written"):
        write_vectors(tmp_path / name, WordVectors(["fine", "bad\nword"], toy.matrix[:2]))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_equal_tables_give_equal_gzip_files(tmp_path: Path, toy: WordVectors) -> None:
    write_vectors(tmp_path / "a.vec.gz", toy)
    write_vectors(tmp_path / "b.vec.gz", toy)
    assert (tmp_path / "a.vec.gz").read_bytes() == (tmp_path / "b.vec.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.vec.gz").read_bytes()).startswith(b"3 3\nthe 1 2 3\n")


def test_loading_needs_neither_fairseq_nor_torch(tmp_path: Path, run_cli, toy: WordVectors) -> None:
    """The command must start in a blink, and work where fairseq is broken."""
    write_vectors(tmp_path / "x.npy", toy)
    for module in ("torch", "fairseq"):
        (tmp_path / f"{module}.py").write_text("raise RuntimeError('imported')")
    done = run_cli(
        "vectors", "neighbours", "the", "--vectors", tmp_path / "x.npy", env={**os.environ, "PYTHONPATH": str(tmp_path)}
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "content",
    [
        "2 2\nla 1 2\nnew york 1 -2e-3\n",
        "la 1 2\nnew york 3 4 \nla 5 6\n",
        "\ufeffla 1 2\nnew york 3 4\n\n",
        "la\t1\t2\nnew york\t3\t4\n",
    ],
)
def test_words_are_those_of_the_whole_table(tmp_path, content):
    path = tmp_path / "v.vec"
    path.write_text(content, encoding="utf-8")
    assert read_words(path) == read_vectors(path, progress=False).words == ["la", "new york"]


def test_words_of_every_format(tmp_path):
    table = WordVectors(["la", "el"], np.ones((2, 3)))
    for name in ("v.vec", "v.vec.gz", "v.npy"):
        write_vectors(tmp_path / name, table)
        assert read_words(tmp_path / name) == ["la", "el"]


def test_numbers_are_not_parsed(tmp_path):
    path = tmp_path / "v.vec"
    path.write_text("la 1 2\nel x y\n", encoding="utf-8")
    assert read_words(path) == ["la", "el"]
    with pytest.raises(InputError, match="line 2: 'x' is not a number"):
        read_vectors(path, progress=False)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty: it holds no vectors"),
        (b"word\n", "line 1: expected a header 'count dimension' or a word and its numbers"),
        (b"2 2\nla 1 2\nel 1\n", "line 3: expected a word and 2 numbers"),
        (b"3 2\nla 1 2\nel 1 2\n", "is truncated: its header announces 3 words"),
        (b"la 1\n\xe9 1\n", "line 2 is not valid UTF-8"),
    ],
)
def test_files_that_are_no_vectors(tmp_path, content, message):
    path = tmp_path / "v.vec"
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        read_words(path)
    assert message in str(error.value)


def test_a_damaged_a_missing_and_an_empty_file(tmp_path):
    path = tmp_path / "v.vec.gz"
    path.write_bytes(gzip.compress(b"la 1 2\n" * 100)[:-4])
    with pytest.raises(InputError, match="damaged or truncated gzip file"):
        read_words(path)
    with pytest.raises(InputError, match="there is no file of word vectors"):
        read_words(tmp_path / "v.vec")
    np.save(tmp_path / "v.npy", np.ones((0, 3)))
    (tmp_path / "v.vocab").write_text("")
    with pytest.raises(InputError, match=r"v\.npy is empty"):
        read_words(tmp_path / "v.npy")
