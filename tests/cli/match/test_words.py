"""``fairseq-xl match words``: distinct sentences as pair classifiers read them."""

from __future__ import annotations

import pytest

from fairseq_xl.cli.main import main


def test_columns_are_read_and_every_sentence_is_written_once(tmp_path):
    (tmp_path / "a.tsv").write_text("Was ist das?\tx\tWas ist das?\nWer?\ty\tWo?\n", encoding="utf-8")
    assert main(["match", "words", f"{tmp_path}/a.tsv,1,3", "-o", f"{tmp_path}/out"]) == 0
    assert (tmp_path / "out").read_text(encoding="utf-8") == "was ist das\nwer\nwo\n"


@pytest.mark.parametrize("column", ["0", "²", "x", ""])
def test_what_is_no_number_of_a_column(tmp_path, capsys, column):
    (tmp_path / "a.tsv").write_text("a\tb\n")
    assert main(["match", "words", f"{tmp_path}/a.tsv,{column}", "-o", f"{tmp_path}/out"]) == 2
    assert "after the file's name come numbers of columns, from 1" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
