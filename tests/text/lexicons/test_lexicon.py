from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse

from fairseq_xl.io.lexicons import read_translations
from fairseq_xl.text.lexicons.bitext import read_bitext
from fairseq_xl.text.lexicons.lexicon import make_lexicon


@pytest.fixture
def bitext(tmp_path):
    (tmp_path / "de").write_text("a a b\nc a\n")
    (tmp_path / "en").write_text("x y\nz x\n")
    return read_bitext(tmp_path / "de", tmp_path / "en")  # a, b, c; x, y, z


COUNTS = sparse.csr_matrix(np.array([[1.0, 3.0, 1.0], [0.0, 0.2, 0.0], [0.0, 0.0, 0.0]]))
TOTALS = np.array([5.0, 0.4, 0.0])


def test_entries_come_best_first_and_limits_hold(bitext):
    every = {"a": [("y", 0.6), ("x", 0.2), ("z", 0.2)], "b": [("y", 0.5)]}
    assert make_lexicon(bitext, COUNTS, TOTALS, best=5) == every
    assert make_lexicon(bitext, COUNTS, TOTALS, best=1) == {"a": every["a"][:1], "b": every["b"]}
    assert make_lexicon(bitext, COUNTS, TOTALS, 0.55) == {"a": every["a"][:1]}
    assert make_lexicon(bitext, COUNTS, TOTALS, min_count=2, best=5) == {"a": every["a"]}


def test_command_writes_lines_and_json(tmp_path, forked_cli):
    (tmp_path / "de").write_text("das Haus\ndas Boot\nein Haus\n" * 5)
    (tmp_path / "en").write_text("the house\nthe boat\na house\n" * 5)
    (tmp_path / "links").write_text("0-0 1-1\n" * 15)
    texts = tmp_path / "de", tmp_path / "en"
    done = forked_cli("data", "lexicon", *texts, "--output", tmp_path / "l.tsv", "--best", 1)
    assert done.returncode == 0, done.stderr
    assert "4 translations of 4 of 4 words" in done.stderr
    assert read_translations(tmp_path / "l.tsv") == {**{"das": "the", "Haus": "house", "Boot": "boat", "ein": "a"}}
    options = ("--alignments", tmp_path / "links", "--json")
    done = forked_cli("data", "lexicon", *texts, "--output", tmp_path / "links.json", *options)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "links.json").read_text())["Haus"] == [["house", 1.0]]
    done = forked_cli("data", "lexicon", *texts, "--output", tmp_path / "no", "--iterations", 0)
    assert done.returncode == 2
    assert done.stderr == "error: --iterations is 0: give a number from 1\n"
    done = forked_cli("data", "lexicon", *texts, "--output", tmp_path / "no", "--min-count", 99)
    assert done.returncode == 2
    assert "no word has a translation: give more text, or lower --min-probability" in done.stderr
    assert not (tmp_path / "no").exists()
