"""``fairseq-xl match words``: distinct sentences as pair classifiers read them."""

from __future__ import annotations

import pytest

from fairseq_xl.cli.main import main


def test_columns_are_read_and_every_sentence_is_written_once(tmp_path):
    (tmp_path / "a.tsv").write_text("Was ist das?\tx\tWas ist das?\nWer?\ty\tWo?\n", encoding="utf-8")
    assert main(["match", "words", f"{tmp_path}/a.tsv,1,3", "-o", f"{tmp_path}/out"]) == 0
    assert (tmp_path / "out").read_text(encoding="utf-8") == "was ist das\nwer\nwo\n"


def test_quoted_tables_and_named_columns(tmp_path):
    (tmp_path / "a.csv").write_text('"Un niño, dos",Uno,5.0\n', encoding="utf-8")
    (tmp_path / "b.tsv").write_text("q1\tlabel\nDos niños\t1\n", encoding="utf-8")
    inputs = [f"{tmp_path}/a.csv,1,2", f"{tmp_path}/b.tsv,q1"]
    assert main(["match", "words", *inputs, "-o", f"{tmp_path}/out"]) == 0
    assert (tmp_path / "out").read_text(encoding="utf-8") == "un niño dos\nuno\ndos niños\n"


def test_a_format_and_an_encoding_are_stated(tmp_path):
    (tmp_path / "a.txt").write_text('q,r\n"Wo, wo?",Grün\n', encoding="cp1252")
    given = f"{tmp_path}/a.txt,format=csv,q,r,encoding=cp1252"
    assert main(["match", "words", given, "-o", f"{tmp_path}/out"]) == 0
    assert (tmp_path / "out").read_text(encoding="utf-8") == "wo wo\ngrün\n"


def test_every_line_keeps_texts_parallel(tmp_path, capsys):
    (tmp_path / "a.tsv").write_text("Wer?\tWho?\n\t\nWer?\tWho?\n")
    line = ["match", "words", f"{tmp_path}/a.tsv,2", "--every-line", "-o", f"{tmp_path}/out"]
    assert main(line) == 0
    assert (tmp_path / "out").read_text() == "who\n\nwho\n"
    (tmp_path / "a.tsv").write_text("Wer?\tWho?\n\nWer?\tWho?\n")
    assert main(line) == 2
    assert "line 2" in capsys.readouterr().err


def test_a_key_without_a_column(tmp_path, capsys):
    assert main(["match", "words", f"{tmp_path}/a.tsv,format=tsv", "-o", f"{tmp_path}/out"]) == 2
    assert "names no column with text: add one" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("0", "line 1: 2 columns, but column 0 is wanted"),
        ("3", "line 1: 2 columns, but column 3 is wanted"),
        *((column, f"line 1: there is no column {column!r} among a, b") for column in ("²", "x", "")),
    ],
)
def test_what_is_no_column(tmp_path, capsys, column, said):
    (tmp_path / "a.tsv").write_text("a\tb\n")
    assert main(["match", "words", f"{tmp_path}/a.tsv,{column}", "-o", f"{tmp_path}/out"]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
