"""Files of pairs, and how their sentences become words."""

from __future__ import annotations

import gzip

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.data.source import Pair, PairSource


@pytest.fixture
def read(tmp_path):
    """``read(bytes or text, "x.csv", "key=value")`` gives the pairs."""

    def run(content, name="x.tsv", *options) -> list[Pair]:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return list(PairSource.parse(",".join([str(path), *options])).pairs())

    return run


def shown(pairs: list[Pair]) -> list[tuple]:
    return [(pair.left, pair.right, pair.label) for pair in pairs]


GOOD = [("one way", "a way", 1), ("this", "that", 0)]


@pytest.mark.parametrize(
    ("content", "name", "options"),
    [
        ("one way\ta way\t1\nthis\tthat\t0\n", "x.tsv", ()),
        ("one way\ta way\t1\r\nthis\tthat\t0", "x.txt", ()),
        ("\ufeffone way\ta way\t1\nthis\tthat\t0\n", "x.tsv", ()),
        ("1\tx\ta way\tone way\n0\tx\tthat\tthis\n", "x.tsv", ("left=4", "right=3", "label=1")),
        ("same\tq2\tq1\n1\ta way\tone way\n0\tthat\tthis\n", "x.tsv", ("left=q1", "right=q2", "label=same")),
        ("q1\tq2\tsame\none way\ta way\t1\nthis\tthat\t0\n", "x.tsv", ("left=q1",)),
        ('"one way",a way,1\n"this","that",0\n', "x.csv", ()),
        # mtime: a name that held the clock would differ between the collectors of a parallel run.
        (
            '{"a": "one way", "b": "a way", "y": 1}\n{"a": "this", "b": "that", "y": 0}\n',
            "x.jsonl",
            ("left=a", "right=b", "label=y"),
        ),
        (gzip.compress(b'"one way",a way,1\nthis,that,0\n', mtime=0), "x.csv.gz", ()),
        ("one way\ta way\t1\nthis\tthat\t0\n".encode("utf-16"), "x.tsv", ()),
    ],
)
def test_shapes(read, content, name, options):
    assert shown(read(content, name, *options)) == GOOD


def test_quotes_mean_nothing_in_tab_separated_columns(read):
    assert shown(read('"a\tb "" c"\t1\n')) == [('"a', 'b "" c"', 1)]


def test_quotes_hold_commas_tabs_and_newlines_in_csv(read):
    assert shown(read('"a, ""b""","c\td\ne",1\n', "x.csv")) == [('a, "b"', "c\td\ne", 1)]


def test_only_newlines_end_lines(read):
    assert shown(read("a\x85b\u2028c\td\re\t1\n")) == [("a\x85b\u2028c", "d\re", 1)]


def test_pairs_without_labels_and_with_translations(read):
    (pair,) = read(
        "uno\tone\tdos\ttwo\n", "x.tsv", "left=1", "right=3", "label=none", "left_translation=2", "right_translation=4"
    )
    assert (pair.left, pair.right, pair.label, pair.translations) == ("uno", "dos", None, ("one", "two"))
    assert pair.where.endswith("x.tsv, line 1")


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("a\tb\n", (), "line 1: 2 columns, but column 3 is wanted"),
        ("a\tb\t1\n", ("left=q1",), "line 1: there is no column 'q1' among a, b, 1"),
        ("a\tb\t1\n", ("left=2",), "left and right are one column"),
        ("a\tb\t1\n", ("left=0",), "line 1: 3 columns, but column 0 is wanted"),
        ("a\tb\t1\nc\td\t2\n", (), "line 2: the label is '2', not 0 or 1"),
        ("a\tb\t\n", (), "line 1: the label is '', not 0 or 1"),
        (
            "q1\tq2\tQuality\na\tb\t1\n",
            (),
            "the label is 'Quality', not 0 or 1: if line 1 has the columns' names, name",
        ),
        (
            "q1\tq2\tgold\na\tb\t1\n",
            ("score=3",),
            "'gold', not a number: if line 1 has the columns' names, name",
        ),
        ("a\tb\t1\nc\t \t1\n", (), "line 2: the right is empty"),
        ("\tb\t1\n", (), "line 1: the left is empty"),
        ("a\tb\t1\t\n", ("left_translation=4", "right_translation=4"), "the left translation is empty"),
        ("a\tb\t1\nc\td\te\t1\n", (), "line 2: 4 columns where the first line has 3"),
        ("a\tb\t1\n\nc\td\t1\n", (), "line 2: 1 columns where the first line has 3"),
        ("a\tb\t1\ncaf\xe9\td\t1\n".encode("latin-1"), ("encoding=utf-8",), "line 2: byte 0xe9 is not valid utf-8"),
        ("a\tb\t1\n", ("encoding=klingon",), "there is no encoding 'klingon'"),
        ('a,"b,1\n', ("format=csv",), "line 1: not CSV"),
        ("a\tb\t1\n", ("colour=1",), "is not KEY=VALUE with a key of left"),
        ("a\tb\t1\n", ("format=xml",), "format is one of tsv, csv"),
        ("a\tb\t1\n", ("fold=3", "split=test"), "folds are of training pairs"),
        ("a\tb\t1\n", ("fold=3", "label=none", "split=valid"), "folds are of training pairs"),
        ("a\tb\t1000\n", ("fold=3", "label=none"), "the fold is '1000', not a number from 0 to 999"),
        ("a\tb\t1\n", ("left_translation=1",), "give left_translation and right_translation, or neither"),
    ],
)
def test_mistakes(read, content, options, message):
    with pytest.raises(InputError) as error:
        read(content, "x.tsv", *options)
    assert message in str(error.value)


def test_another_encoding_is_found_and_said(read, capsys):
    pytest.importorskip("charset_normalizer")
    line = "¿Cuándo llegará la devolución?\t¿Por qué no llegó mi devolución todavía?\t0\n"
    pairs = read((line * 20).encode("latin-1"))
    assert pairs[0].left == "¿Cuándo llegará la devolución?"
    assert "is not UTF-8: read as" in capsys.readouterr().err


def test_no_file(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        list(PairSource.parse(str(tmp_path / "x.tsv")).pairs())
