"""Text vectors as they are found in the wild, and damaged ones."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.vectors.formats import text as text_format
from fairseq_xl.vectors.table import WordVectors, read_vectors


def read(tmp_path: Path, text: str | bytes, name: str = "x.vec", **options) -> WordVectors:
    (tmp_path / name).write_bytes(text.encode() if isinstance(text, str) else text)
    return read_vectors(tmp_path / name, progress=False, **options)


@pytest.mark.parametrize(
    "text",
    [
        "2 3\nthe 1 2 3\ncat 4 5 6\n",
        "2 3\nthe 1 2 3 \ncat 4 5 6 \n",  # fastText ends its lines with a space
        "the 1 2 3\ncat 4 5 6\n",  # GloVe writes no header
        "the 1 2 3\ncat 4 5 6",
        "2 3\r\nthe 1 2 3\r\ncat 4 5 6\r\n",
        "2 3\nthe\t1\t2\t3\ncat\t4\t5\t6\n",
        "the\t1 2 3\ncat\t4 5 6\n",
        "2 3\nthe  1   2   3\ncat  4   5   6\n",
        "2 3\nthe 1.0e0 +2 3.\ncat 4 5 6\n\n\n",
        "\ufeff2 3\nthe 1 2 3\ncat 4 5 6\n",
    ],
)
def test_the_dialects_of_the_format_mean_the_same(tmp_path: Path, text: str) -> None:
    for data, name in ((text.encode(), "x.vec"), (gzip.compress(text.encode()), "x.vec.gz")):
        table = read(tmp_path, data, name)
        assert table.words == ["the", "cat"]
        np.testing.assert_array_equal(table.matrix, [[1, 2, 3], [4, 5, 6]])
        some = read(tmp_path, data, name, words=["cat"])
        assert some.words == ["cat"]
        np.testing.assert_array_equal(some.matrix, [[4, 5, 6]])


def test_words_with_spaces_are_what_stands_before_the_last_columns(tmp_path: Path) -> None:
    text = "5 2\nNew York 1.5 2.5\n. . . 3.5 4.5\nRoute 66 5.5 6.5\nnew 7.5 8.5\n 9.5 1.5\n"
    table = read(tmp_path, text)
    assert table.words == ["New York", ". . .", "Route 66", "new", ""]
    assert read(tmp_path, text, words=["York", "New", "Route 66"]).words == ["Route 66"]
    np.testing.assert_array_equal(table.matrix[2], [5.5, 6.5])


def test_only_a_newline_ends_a_line(tmp_path: Path) -> None:
    table = read(tmp_path, "3 1\na\u2028b 1\nc\x85d 2\n\u00a0 3\n")
    assert table.words == ["a\u2028b", "c\x85d", "\u00a0"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("2 3\na 1 2 3\nb 1 2\n", r"line 3: expected a word and 3 numbers, found 3 columns"),
        ("2 3\na 1 2 3\nb 1 2 3 4\n", r"line 3: .* 3 numbers, found 5 columns"),
        ("2 3\na 1 2 3\nb 0.1 0.2 0.3 0.4\n", r"line 3: .* 3 numbers, found 5 columns"),
        ("a 1 2 3\nb 1 2 3\nc 1 2\n", r"line 3: expected a word and 3 numbers"),
        ("2 3\na 1 2 3\nb 1 x 3\n", r"line 3: 'x' is not a number \(in the vector of 'b'\)"),
        ("2 2\na 1 2\n\nb 1 2\n", r"line 3 is empty"),
        ("3 2\na 1 2\nb 1 2\n", r"truncated: .* announces 3 words, .* line 3 after 2"),
        ("2 0\na\nb\n", r"line 1: .* dimension 0"),
        ("\n\n", r"nothing on its first line"),
        ("2 3\n", r"is empty"),
        ("hello\nworld\n", r"line 1: .* a single column"),
        ("hello cruel world\n", r"line 1: .* found 'cruel'.* word vectors\?"),
        ("2 2\na 1 2\nb 1 1e39\n", r"line 3: .*'b' holds NaN or infinity"),
        (b"2 2\na 1 2\ncaf\xe9 1 2\n", r"line 3 is not valid UTF-8"),
        (b"\xba\x16\x4f\x2f\x0c\0\0\0\0", r"binary, not a text file"),
    ],
)
def test_damage_is_named_with_its_line(tmp_path: Path, text: str | bytes, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence) as caught:
        read(tmp_path, text)
    assert str(tmp_path / "x.vec") in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (b"word 1 2\n", "line 40000: expected a word and 3 numbers"),
        (b"w\xffd 1 2 3\n", "line 40000 is not valid UTF-8"),
        (b"word 0.1 0.2 0.3 0.4\n", "line 40000: expected a word and 3 numbers"),
    ],
)
def test_damage_is_found_in_lines_that_are_not_wanted(tmp_path: Path, line: bytes, sentence: str) -> None:
    lines = [b"w%d 0.5 0.5 0.5\n" % number for number in range(1, 50_001)]
    lines[39_998] = line  # the header is line 1
    with pytest.raises(InputError, match=sentence):
        read(tmp_path, b"50000 3\n" + b"".join(lines), words=["w7"])


def test_wanted_words_are_found_in_every_block(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(text_format, "_BLOCK_BYTES", 64)
    lines = [f"w{n} {n + 1} 1" if n % 10 else f"two words{n} {n + 1} 1" for n in range(300)]
    wanted = ["w1", "two words150", "w151", "w299", "two", "w150"]
    table = read(tmp_path, "300 2\n" + "\n".join(lines) + "\n", words=wanted)
    assert table.words == ["w1", "two words150", "w151", "w299"]
    np.testing.assert_array_equal(table.matrix[:, 0], [2, 151, 152, 300])


@pytest.mark.parametrize("cut", [30, 200, -1])
def test_a_truncated_or_damaged_gzip_file_is_named(tmp_path: Path, cut: int) -> None:
    rng = np.random.default_rng(0)
    lines = [f"w{n} {rng.random():.6f} {rng.random():.6f}" for n in range(500)]
    packed = gzip.compress(("500 2\n" + "\n".join(lines) + "\n").encode())
    with pytest.raises(InputError, match=r"x\.vec\.gz is a damaged or truncated gzip file"):
        read(tmp_path, packed[:cut], "x.vec.gz", words=["w1"])
    damaged = bytearray(packed)
    damaged[len(packed) // 2] ^= 0xFF
    with pytest.raises(InputError, match=r"x\.vec\.gz"):
        read(tmp_path, bytes(damaged), "x.vec.gz")


@pytest.mark.parametrize("start", [b"", b"2 1\na 1\nb "])
def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch, start: bytes) -> None:
    monkeypatch.setattr(text_format, "LONGEST_LINE", 1 << 20)
    with pytest.raises(InputError, match=rf"x\.vec\.gz, line {1 + start.count(10)} is longer than "):
        read(tmp_path, gzip.compress(start + b"1" * (3 << 20)), "x.vec.gz")


def test_a_file_that_is_only_named_gzip_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a gzip file"):
        read(tmp_path, "1 1\na 1\n", "x.vec.gz")


def test_an_announced_number_of_words_claims_no_memory(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="announces 999999999999 words"):
        read(tmp_path, "999999999999 2\na 1 2\n")


def test_only_the_wanted_rows_are_held_in_memory(tmp_path: Path) -> None:
    rows = "".join(f"w{n}" + " 0.123" * 300 + "\n" for n in range(5000))
    (tmp_path / "x.vec").write_text(f"5000 300\n{rows}")
    tracemalloc.start()
    table = read_vectors(tmp_path / "x.vec", words=["w7", "w4999"], progress=False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert table.words == ["w7", "w4999"]
    assert peak < 4_000_000, "5000 rows of 300 numbers take 6 MB, their text 9 MB"


def test_progress_is_shown_when_reading_takes_time(
    tmp_path: Path, monkeypatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tqdm import tqdm

    monkeypatch.setattr(
        text_format,
        "progress_bar",
        lambda what, shown, total, unit: tqdm(desc=what, total=total, unit=unit, disable=not shown),
    )
    (tmp_path / "x.vec").write_text("1 2\na 1 2\n")
    read_vectors(tmp_path / "x.vec", progress=False)
    assert capsys.readouterr().err == ""
    read_vectors(tmp_path / "x.vec")
    shown = capsys.readouterr().err
    assert "reading x.vec: 100%" in shown
    assert "10/10" in shown, "the bar counts the file's bytes"


@pytest.mark.parametrize("word", ["", " a", "a ", "a\tb", "a\rb", "a  b", "version 2.0", "a\0"])
def test_a_word_that_would_not_be_read_back_is_not_written(tmp_path: Path, word: str) -> None:
    from fairseq_xl.vectors.table import write_vectors

    table = WordVectors([word], np.ones((1, 2), dtype=np.float32))
    with pytest.raises(InputError, match=r"cannot be written to x.vec"):
        write_vectors(tmp_path / "x.vec", table)
