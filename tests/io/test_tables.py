"""Tables that are read line by line; tests of labelled text and of pairs read whole ones."""

from __future__ import annotations

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.tables import Row, Table, parse_settings, stream_rows, write_tsv


def test_columns_by_number_and_by_name(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("es\ten\n uno\tone \n", encoding="utf-8")
    assert list(stream_rows(path, ["en", "es"])) == [
        Row(1, ["es", "en"], [1, 0], names=True),
        Row(2, [" uno", "one "], [1, 0]),
    ]
    assert [(row.names, row.chosen) for row in stream_rows(path, ["2"])] == [(False, ["en"]), (False, ["one "])]


@pytest.mark.parametrize(
    ("content", "wanted", "message"),
    [
        (b"a\tb\n", ["3"], "line 1: 2 columns, but column 3 is wanted"),
        (b"a\tb\n", ["0"], "column 0 is wanted"),
        (b"a\tb\n", ["9" * 5000], "there is no column"),
        (b"a\tb\n", ["c"], "there is no column 'c' among a, b"),
        (b"a\tb\nc\n", ["1"], "line 2: 1 columns where the first line has 2"),
        (b"a\tb\n\xe9\tc\n", ["1"], "line 2: byte 0xe9 is not valid UTF-8"),
    ],
)
def test_wrong_columns(tmp_path, content, wanted, message):
    path = tmp_path / "x.tsv"
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        list(stream_rows(path, wanted))
    assert message in str(error.value)


def test_rows_that_need_not_be_even(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("a\tb\tc\n\nd\te\n")
    table = Table(path, {})
    assert list(table.rows({"text": "2"})) == [
        (f"{path}, line {n}", {"text": text}) for n, text in ((1, "b"), (3, "e"))
    ]
    with pytest.raises(InputError, match="line 2: 1 columns where the first line has 3"):
        list(table.rows({"text": "2"}, even=True))
    with pytest.raises(InputError, match="line 3: 2 columns, but column 3 is wanted"):
        list(table.rows({"text": "3"}))


def test_settings():
    path, options = parse_settings("x.tsv,text=2", ("text", "translation"))
    assert (path.name, options) == ("x.tsv", {"text": "2"})
    with pytest.raises(InputError, match="'label=1' is not KEY=VALUE with a key of text, translation"):
        parse_settings("x.tsv,label=1", ("text", "translation"))


def test_a_setting_given_twice():
    with pytest.raises(InputError, match="gives text twice"):
        parse_settings("a.csv,text=x,text=y", ("text", "class"))


def test_csv_is_not_streamed(tmp_path):
    with pytest.raises(InputError, match="quoted CSV is not read here"):
        list(stream_rows(tmp_path / "x.csv", ["1"]))


def test_splits_and_formats():
    assert Table.parse("x.csv.gz,split=test").format == "csv"
    assert Table.parse("x.csv.gz,split=test").split == "test"
    assert (Table.parse("x").format, Table.parse("x").split) == ("tsv", "train")


def test_nothing_is_quoted_and_none_is_empty(tmp_path):
    write_tsv(tmp_path / "a.tsv", ("text", "cosine", "fold"), [('A "cat"', 0.5, 0), ("L'été", None, None)])
    assert (tmp_path / "a.tsv").read_text(encoding="utf-8") == 'text\tcosine\tfold\nA "cat"\t0.5\t0\nL\'été\t\t\n'
