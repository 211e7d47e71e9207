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
