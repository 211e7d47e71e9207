"""Labelled text in its many shapes."""

from __future__ import annotations

import gzip

import pytest

from fairseq_xl.io import lines
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.labelled import Source


@pytest.fixture
def read(tmp_path):
    """``read(bytes or text, "x.csv", "key=value")`` gives (text, label) pairs."""

    def run(content, name="x.tsv", *options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        found = Source.parse(",".join([str(path), *options])).examples()
        return [(example.text, example.label) for example in found]

    return run


GOOD = [("good film", "pos"), ("bad", "neg")]


@pytest.mark.parametrize(
    ("content", "name", "options"),
    [
        ("pos\tgood film\nneg\tbad\n", "x.tsv", ()),
        ("pos\tgood film\r\nneg\tbad\r\n", "x.txt", ()),
        ("good film\tx\tpos\nbad\tx\tneg", "x.tsv", ("text=1", "class=3")),
        ("l\tt\npos\tgood film\nneg\tbad\n", "x.tsv", ("class=l", "text=t")),
        ('label,text\npos,"good film"\nneg,bad\n', "x.csv", ()),
        ("pos,good film\nneg,bad\n", "x.csv", ("class=1", "text=2")),
        ('{"label": "pos", "text": "good film"}\n\n{"label": "neg", "text": "bad"}\n', "x.jsonl", ()),
        ('{"y": "pos", "s": "good film"}\n{"y": "neg", "s": "bad"}', "x", ("format=jsonl", "class=y", "text=s")),
        ('{"label": "very\\tpos", "text": "good film"}\n{"label": "neg", "text": "bad"}', "x.jsonl", ()),
        (" pos        good film\nneg bad\n", "x.txt", ("format=spaces",)),
    ],
)
def test_formats(read, content, name, options):
    assert [(text, label.removeprefix("very ")) for text, label in read(content, name, *options)] == GOOD


def test_a_quotation_mark_in_tab_separated_text_is_a_character(read):
    assert read('pos\t"good\nneg\tbad\n') == [('"good', "pos"), ("bad", "neg")]


def test_only_newlines_end_lines(read):
    assert read("pos\ta\x85b\u2028c\rd\n") == [("a\x85b\u2028c\rd", "pos")]


def test_quoted_newlines_in_csv(read):
    assert read('label,text\npos,"a\nb"\n', "x.csv") == [("a\nb", "pos")]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"c\u2019mon", "c\u2019mon"),
        (r"\uD83D\ude00 \ud83d x", "\N{GRINNING FACE} \\ud83d x"),  # half a pair is no character
        (r"a \"b\" c\\d \q \u12", 'a "b" c\\d \\q \\u12'),
        (r"\\u2019", r"\u2019"),
    ],
)
def test_escapes_where_they_are_said_to_be(read, written, meant):
    assert read(f"pos\t{written}\n", "x.tsv", "escapes=json") == [(meant, "pos")]
    assert read(f"pos\t{written}\n") == [(written, "pos")]


def test_one_class_for_a_file_and_compressed(tmp_path):
    path = tmp_path / "x.pos.gz"
    path.write_bytes(gzip.compress(b"a\nb\n"))
    found = list(Source.parse(f"{path},label=pos").examples())
    assert [(e.text, e.label) for e in found] == [("a", "pos"), ("b", "pos")]
    assert found[1].where == f"{path}, line 2"


def test_one_class_for_the_second_column_of_a_table(read):
    assert read("x\ta\ny\tb\n", "x.tsv", "label=pos", "format=tsv") == [("a", "pos"), ("b", "pos")]


def test_a_gzip_bomb_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "SMALL", 1 << 20)
    path = tmp_path / "x.tsv.gz"
    path.write_bytes(gzip.compress(b"pos\t" + b"x" * (3 << 20)))
    with pytest.raises(InputError, match=r"x\.tsv\.gz: refused, it unpacks to over 100 times its size"):
        list(Source.parse(str(path)).examples())


@pytest.mark.parametrize(
    ("content", "name", "options"),
    [
        ("body,stars\ngood film,5\nbad,1\n", "x.csv", ("text=body",)),
        ("good film,5\nbad,1\n", "x.csv", ("text=1",)),
        ("5\tgood film\n1\tbad\n", "x.tsv", ("text=2",)),
        ("body\ngood film\nbad\n", "x", ("format=csv", "text=body")),
        ('{"text": "good film"}\n{"text": "bad"}\n', "x.jsonl", ()),
        ("5 good film\n1 bad\n", "x", ("format=spaces",)),
        ("good film\nbad\n", "x.pos", ()),
    ],
)
def test_one_class_for_a_file_of_any_format(read, content, name, options):
    assert read(content, name, "label=neg", *options) == [("good film", "neg"), ("bad", "neg")]


def test_labels_beside_text_and_a_map(read, tmp_path):
    (tmp_path / "y").write_text("1\n0\n")
    (tmp_path / "map").write_text("0\tneg\n1\tpos\tmore\n")
    options = (f"labels={tmp_path}/y", f"classes={tmp_path}/map")
    assert read("good film\nbad\n", "x", *options) == GOOD


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_marked_encodings_are_found(read, encoding):
    assert read("pos\tgrün తె\n".encode(encoding)) == [("grün తె", "pos")]


def test_a_stated_encoding(read):
    assert read("pos\tgrün\n".encode("latin-1"), "x.tsv", "encoding=latin-1") == [("grün", "pos")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
def test_a_mark_is_no_text_where_the_encoding_is_stated(read, encoding):
    assert read("\ufeffpos\tgrün\n".encode(encoding), "x.tsv", f"encoding={encoding}") == [("grün", "pos")]


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
def test_western_letters_are_guessed_before_eastern_ones(read, encoding):
    pytest.importorskip("charset_normalizer")
    text = "La niña soñó que el señor mañana iría a España, ¿verdad? ¡Qué año más pequeño!"
    assert read(f"pos\t{text}\n".encode(encoding)) == [(text, "pos")]


def test_a_guessed_encoding_is_said(read, capsys):
    pytest.importorskip("charset_normalizer")
    text = "pos\t" + "Größe, Straße, Übermut und Ärger über schöne Häuser " * 5
    assert read(text.encode("cp1252")) == [(text[4:], "pos")]
    assert "is not UTF-8: read as" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "name", "options", "said"),
    [
        ("", "x.tsv", (), "x.tsv holds no text: check the file"),
        ("label,text\n", "x.csv", (), "x.csv holds no text: check the file"),
        ("pos good", "x.tsv", (), "line 1: 1 columns, but column 2 is wanted"),
        (
            "pos\t1\tgood",
            "x.tsv",
            (),
            "line 1: 3 columns instead of 2: name yours with class= and text=, or take tabs out of the text",
        ),
        ("a,b\npos,x", "x.csv", (), "line 1: there is no column 'label' among a, b"),
        ('label,text\npos,"x', "x.csv", (), "not CSV"),
        ("{}", "x.jsonl", (), "line 1: not a JSON object with 'label' and 'text'"),
        ("\tx", "x.tsv", (), "line 1: the label is empty"),
        ("x", "x", ("format=lines",), "need labels=FILE or label=CLASS"),
        ('{"label": null, "text": "x"}', "x.jsonl", (), "line 1: 'label' is null: give text or a number"),
        ('{"text": ["x"]}', "x.jsonl", ("label=a",), "line 1: 'text' is [\"x\"]: give text"),
        ('{"text": "x\\ud83d"}', "x.jsonl", ("label=a",), "line 1: 'text' has half a surrogate pair"),
        ("1\tx", "x", ("label=a", "text=2", "format=lines"), "a line is the text where format=lines"),
        ("x", "x", ("labels=y", "format=csv"), "labels= goes with lines of text alone"),
        ("x", "x", ("colour=red",), "is not KEY=VALUE"),
        ("x", "x", ("split=dev",), "split is one of train, valid, test"),
        ("x", "x", ("label=a", "labels=b"), "give one of labels and label"),
        (b"pos\tx\npos\t\xe9", "x", ("encoding=utf-8",), "line 2: byte 0xe9 is not valid utf-8"),
        *(
            ("x", "x", (f"encoding={name}",), f"there is no encoding {name!r}")
            for name in ("klingon", "zlib", "undefined")
        ),
    ],
)
def test_mistakes(read, content, name, options, said):
    with pytest.raises(InputError) as error:
        read(content, name, *options)
    assert said in str(error.value)


def test_an_unknown_label_and_unequal_files(read, tmp_path):
    (tmp_path / "map").write_text("a\tA\n")
    with pytest.raises(InputError, match="line 2: the label 'b' is not in"):
        read("a\tx\nb\ty\n", "x.tsv", f"classes={tmp_path}/map")
    (tmp_path / "y").write_text("a\n")
    with pytest.raises(InputError, match="has 1 labels for the 2 lines"):
        read("x\ny\n", "x", f"labels={tmp_path}/y")
    (tmp_path / "map").write_text("a\tA\na\tB\n")
    with pytest.raises(InputError, match="line 2: expected a new label"):
        read("a\tx\n", "x.tsv", f"classes={tmp_path}/map")
    (tmp_path / "map").write_text("")
    with pytest.raises(InputError, match="map maps no label"):
        read("a\tx\n", "x.tsv", f"classes={tmp_path}/map")
    with pytest.raises(InputError, match="there is no file"):
        list(Source.parse(f"{tmp_path}/nowhere").examples())
