"""Table 1: lengths, and what has no vector."""

from __future__ import annotations

import numpy as np
import pytest

from fairseq_xl.cli.main import main
from fairseq_xl.pairs.data.source import PairSource
from fairseq_xl.pairs.data.statistics import Unknown, table, unknown
from fairseq_xl.pairs.data.tokenizer import WordRules

WORD_RULES = WordRules()


def test_unknown():
    rows = [(("a", "b"), ("c",)), (("a", "b"), ("x", "y")), (("x", "y"), ("z", "a")), (("x", "y"), ("x", "y"))]
    # a b and c are known; x y stands in three pairs and z a in one
    assert unknown(rows, {"a", "b", "c"}) == Unknown(terms=3, sentences=2, pairs=3)
    assert unknown(rows, {"a", "b", "c", "x", "y", "z"}) == Unknown(0, 0, 0)


def test_table(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("A b c?\ta b\t1\na b\tnew\t0\n¿a b c!\td\t0\n", encoding="utf-8")
    (row,) = table([PairSource.parse(str(path))], WORD_RULES, {"a", "b", "c"}).rows
    # four sentences: a b c, a b, new, d
    lengths = [3, 2, 1, 1]
    assert row == [
        "x.tsv",
        "3",
        "33.3%",
        "4",
        "3",
        f"{np.mean(lengths):.3f}",
        f"{np.std(lengths, ddof=1):.3f}",
        "2",
        "2",
        "2",
    ]


def test_long_sentences_count_in_full_and_labels_may_lack(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("a " * 99 + "\tb\n", encoding="utf-8")
    found = table([PairSource.parse(f"{path},label=none")], WORD_RULES)
    assert found.rows[0][2:5] == ["–", "2", "99"]


def test_command(tmp_path, capsys):
    path, vectors = tmp_path / "x.tsv", tmp_path / "v.vec"
    path.write_text("Uno dos\tone\tdos!\ttwo\n", encoding="utf-8")
    vectors.write_text("2 1\ndos 1\n! 2\n", encoding="utf-8")
    command = ["match", "statistics", f"{path},left=1,right=3,label=none", "--vectors", str(vectors)]
    assert main(command) == 0
    assert "| x.tsv (1, 3) | 1 | – | 2 | 2 | 1.500 | 0.707 | 1 | 1 | 1 |" in capsys.readouterr().out
    assert main([*command, "--keep-case", "--keep-punctuation"]) == 0
    assert "| 2 | 2 | 2.000 | 0.000 | 1 | 1 | 1 |" in capsys.readouterr().out


def test_an_empty_file_is_a_mistake(tmp_path, capsys):
    path = tmp_path / "x.tsv"
    path.write_text("", encoding="utf-8")
    assert main(["match", "statistics", str(path)]) == 2
    assert "holds no pairs" in capsys.readouterr().err


# ---------------------------------------------------------------- real data


def test_the_papers_lengths(data_dir):
    """cikm_test_a, Table 1: at most 57 terms, 9.52 on average, standard deviation 6.481; there parted by spaces."""
    source = PairSource.parse(f"{data_dir}/pairs/cikm2018/cikm_test_a.txt,label=none")

    class Spaces(WordRules):
        def words(self, text):
            return text.split()

    row = table([source], Spaces()).rows[0]
    assert row[4] == "57"
    assert float(row[5]) == pytest.approx(9.52, abs=0.005)
    assert float(row[6]) == pytest.approx(6.481, abs=0.0015)
