from __future__ import annotations

import gzip
import os

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fairseq_xl.io import lines
from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import count_lines, decode_lines, read_lines, read_text, text_encoding

# Every character at which some reader ends a line, beside ordinary ones.
NASTY = st.text(st.sampled_from("ab \t\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\ufeffé漢😀"), max_size=12)


@given(lines=st.lists(NASTY, min_size=1, max_size=8), final_newline=st.booleans())
def test_lines_end_at_newlines_only(tmp_path_factory, lines, final_newline):
    path = tmp_path_factory.mktemp("lines") / "text"
    path.write_bytes("\n".join(lines).encode() + (b"\n" if final_newline else b""))
    assume(b"\n" in path.read_bytes() or lines[0].count("\r") < 2)
    expected = lines if final_newline or lines[-1] else lines[:-1]
    read = list(read_lines(path))
    assert len(read) == len(expected) == count_lines(path)
    for number, (got, line) in enumerate(zip(read, expected, strict=True)):
        line = line.removeprefix("\ufeff") if number == 0 else line
        assert got == line.removesuffix("\r")


def test_windows_files_lose_their_mark_and_carriage_returns(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    assert list(read_lines(path)) == ["one", "two"]


@pytest.mark.parametrize("read", [lambda path: list(read_lines(path)), read_text], ids=["lines", "whole"])
def test_a_file_whose_lines_only_carriage_returns_end_is_refused(tmp_path, read):
    path = tmp_path / "old.txt"
    path.write_bytes(b"one\rtwo\rthree\r")
    with pytest.raises(InputError, match=r"old\.txt ends its lines by carriage returns alone: convert it"):
        read(path)


@pytest.mark.parametrize("name", ["text", "text.gz"])
def test_a_line_without_end_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.setattr(lines, "LONGEST_LINE", 100_000)
    content = b"one\n" + b"x" * 100_001
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    with pytest.raises(InputError, match=rf"{name}, line 2 is longer than 100,000 bytes"):
        list(read_lines(tmp_path / name))
    (tmp_path / "fits").write_bytes(content[:-2] + b"\n")
    assert len(list(read_lines(tmp_path / "fits"))[1]) == 99_999


def test_gzip_is_read_and_a_torn_one_is_named(tmp_path):
    whole = gzip.compress(b"eins\nzwei\n" * 500)
    path = tmp_path / "text.gz"
    path.write_bytes(whole)
    assert count_lines(path) == 1000
    path.write_bytes(whole[:-20])
    with pytest.raises(InputError, match=r"text\.gz: not a complete gzip file"):
        list(read_lines(path))
    with pytest.raises(InputError, match=r"text\.gz: not a complete gzip file"):
        count_lines(path)


def test_a_pipe_can_be_read_but_not_counted_first():
    there, here = os.pipe()
    os.write(here, b"one\ntwo\n")
    os.close(here)
    with pytest.raises(InputError, match=rf"/dev/fd/{there} is a pipe, and would have to be read twice: give a file"):
        count_lines(f"/dev/fd/{there}")
    assert list(read_lines(f"/dev/fd/{there}")) == ["one", "two"]
    os.close(there)


def test_invalid_utf8_is_named_by_file_and_line(tmp_path):
    path = tmp_path / "latin1.de"
    path.write_bytes("gut\nschön\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"latin1\.de, line 2: byte 0xf6 is not valid UTF-8"):
        list(read_lines(path))


def test_a_stream_is_read_no_further_than_asked():
    def stream():
        yield b"one\r\n"
        raise AssertionError("read too far")

    assert next(decode_lines(stream(), "standard input")) == "one"
    with pytest.raises(InputError, match="standard input, line 2: byte 0xff"):
        list(decode_lines([b"one\n", b"\xff\n"], "standard input"))


def test_missing_file_and_folder_are_input_errors(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        list(read_lines(tmp_path / "absent"))
    with pytest.raises(InputError, match="cannot read"):
        list(read_lines(tmp_path))


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "out"
    path.write_text("old\n")

    def fail():
        with atomic_text(path) as stream:
            stream.write("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text() == "old\n"
    assert [item.name for item in tmp_path.iterdir()] == ["out"]


TEXT = {"UTF8": "utf-8", "latin1": "iso8859-1", "windows-1252": "cp1252", "Shift_JIS": "shift_jis"}
NO_TEXT_OF_BYTES = ("zlib", "hex", "rot13", "base64", "bz2", "uu", "quopri")
OF_OTHER_THINGS = ("undefined", "idna", "punycode", "unicode_escape", "unicode-escape", "RAW_UNICODE_ESCAPE", "charmap")
NO_CODEC = ("", "none", "aliases", "a\0b", "\ud800", "é", "x" * 10_000)


@pytest.mark.parametrize(
    ("name", "found"),
    [*TEXT.items(), *((name, None) for name in (*NO_TEXT_OF_BYTES, *OF_OTHER_THINGS, *NO_CODEC))],
)
def test_encodings_of_texts(name, found):
    assert text_encoding(name) == found


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_file_in_utf_16_is_told_from_one_in_latin_1(tmp_path, encoding):
    path = tmp_path / "text"
    path.write_bytes("\ufeffeins\n".encode(encoding))
    with pytest.raises(InputError, match="iconv -f UTF-16 -t UTF-8"):
        list(read_lines(path))
    path.write_bytes("München\n".encode("latin-1"))
    with pytest.raises(InputError, match="iconv -f ISO-8859-1 -t UTF-8"):
        list(read_lines(path))
