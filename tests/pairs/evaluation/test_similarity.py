"""Rank correlation with judged similarities."""

from __future__ import annotations

import warnings

import markdown_tables
import numpy as np
import pytest
import torch
from scipy import sparse

from fairseq_xl.cli.main import main
from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.data.source import PairSource
from fairseq_xl.pairs.evaluation import similarity
from fairseq_xl.pairs.evaluation.similarity import (
    UNTRAINED,
    across,
    cosines,
    read,
    shared_words,
    similarities,
    spearman,
    spearman_interval,
)
from fairseq_xl.pairs.prediction.predictor import PairPredictor

STS = [
    ("quiero mi reembolso", "devolución", 5.0),
    ("ver mi tarjeta", "el paquete", 0.5),
    ("mi envío", "ver el paquete", 4.2),
    ("cómo puedo", "cuándo quiero", 0.0),
    ("mi vendedor", "tienda el", 4.5),
    ("visa", "envío", 1.0),
    ("quiero ver mi visa", "quiero ver mi envío", 0.8),
]


def test_spearman_correlates_ranks():
    gold = np.array([1.0, 2, 3, 4])
    assert spearman(np.array([0.1, 30, 2, 400]), gold) == pytest.approx(0.8)  # 1 - 6 Σd² / n(n² - 1), Σd² = 2
    assert spearman(-gold, gold) == pytest.approx(-1)
    assert spearman(np.array([1.0, 1, 2, 2]), gold) == pytest.approx(4 / 20**0.5)  # ties share their rank
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(spearman(np.ones(4), gold))


def test_the_interval_holds_the_value_and_narrows():
    random = np.random.default_rng(3)
    gold = random.normal(size=1600)
    said = gold + random.normal(size=1600)
    wide, narrow = spearman_interval(said[:100], gold[:100]), spearman_interval(said, gold)
    assert wide[0] < spearman(said[:100], gold[:100]) < wide[1]
    # By a quarter, as 100 pairs are to 1600: give or take the draws.
    assert 3 < (wide[1] - wide[0]) / (narrow[1] - narrow[0]) < 5.5
    assert narrow == spearman_interval(said, gold)


def test_what_needs_no_training():
    sides = np.array([[3.0, 0], [0, 0]]), np.array([[3.0, 3], [1, 1]])
    np.testing.assert_allclose(cosines(*sides), [0.5**0.5, 0])
    np.testing.assert_allclose(cosines(*map(sparse.csr_array, sides)), [0.5**0.5, 0])
    left, right = [["a", "b"], [], ["a"]], [["b", "c", "b"], [], ["a", "a"]]
    np.testing.assert_allclose(shared_words(left, right), [1 / 3, 0, 1])


@pytest.fixture(scope="module")
def sts(tmp_path_factory):
    path = tmp_path_factory.mktemp("sts") / "sts-es-dev.csv"
    path.write_text("".join(f'"{a}",{b},{score}\n' for a, b, score in STS), encoding="utf-8")
    return f"{path},left=1,right=2,score=3"


def test_the_command(checkpoint, sts, capsys):
    """A classifier that has learnt which words mean the same ranks these well; words in common do not."""
    assert main(["match", "similarity", str(checkpoint), "--input", sts, "--name", "mine"]) == 0
    cells = markdown_tables.rows(capsys.readouterr().out)[-1]
    assert cells[:2] == ["sts-es-dev", "7"]
    assert float(cells[3].split()[0]) > 50  # 57 or more, as machines round
    assert float(cells[-1].split()[0]) < 0


def test_nothing_to_rank_by(checkpoint, sts, tmp_path, capsys):
    """No words are shared: that says nothing, and is no number."""
    path = tmp_path / "some.csv"
    path.write_text("".join(f"{a},{b},{score}\n" for a, b, score in STS[:6]), encoding="utf-8")
    assert main(["match", "similarity", str(checkpoint), "--input", f"{path},score=3"]) == 0
    assert capsys.readouterr().out.strip().endswith("| the same for all |")


def test_several_checkpoints_and_translations(checkpoint, sts, tmp_path, capsys):
    out = tmp_path / "table.md"
    same = sts.replace("sts-es-dev.csv", "sts-xx-dev.csv")
    first, second = (line.split(",")[0] for line in (sts, same))
    with open(first, encoding="utf-8") as stream, open(second, "w", encoding="utf-8") as target:
        target.write(stream.read())
    argv = ["match", "similarity", str(checkpoint), str(checkpoint), "--input", sts, same, "--across", "-o", str(out)]
    assert main(argv) == 0
    rows = [line for line in out.read_text().splitlines() if line.startswith("| sts")]
    assert [row.split("|")[1].strip() for row in rows] == [
        "sts-es-dev",
        "sts-xx-dev",
        "sts-es-dev × sts-xx-dev",
        "sts-xx-dev × sts-es-dev",
    ]
    assert "± 0.0" in rows[0]
    assert len({row.split("|", 2)[2] for row in rows}) == 1  # the same sentences each time


def test_a_classifier_without_sentence_vectors(prepared, checkpoint, train_classifier, tmp_path, sts, capsys):
    train_classifier(prepared, tmp_path, "--arch esim --hidden-dim 8 --max-update 2")
    argv = ["match", "similarity", str(tmp_path / "checkpoint_last.pt")]
    assert main([*argv, "--input", sts]) == 0
    said = capsys.readouterr().out
    assert "| esim |" in said
    assert "sentence vectors" not in said
    assert main([*argv, str(checkpoint), "--input", sts]) == 2
    said = (
        "error: one checkpoint has esim, and another siamese_conv, its sentence vectors: give runs of one architecture"
    )
    assert said in capsys.readouterr().err


def test_vectors_of_sentences_are_in_the_order_of_the_rows(checkpoint):
    from fairseq_xl.pairs.prediction.predictor import PairPredictor

    predictor = PairPredictor.load(checkpoint, device="cpu")
    rows = predictor.rows([(a, b) for a, b, _ in STS])
    together = predictor.vectors(rows, max_tokens=8)
    alone = [predictor.vectors([row]) for row in rows]
    for side in (0, 1):
        np.testing.assert_allclose(together[side], np.concatenate([one[side] for one in alone]), atol=1e-6)


def test_unfit_sources(sts, tmp_path):
    path = sts.split(",")[0]
    with pytest.raises(InputError, match="does not say where the similarities are"):
        read(f"{path},left=1,right=2")
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b,4\nc,d,high\n")
    with pytest.raises(InputError, match=r"bad\.csv, line 2: the score is 'high', not a number"):
        read(f"{bad},score=3")
    bad.write_text("a,b,4\nc,d,nan\n")
    with pytest.raises(InputError, match="line 2: the score is 'nan'"):
        read(f"{bad},score=3")
    bad.write_text("a,b,4\nc,d,4\n")
    with pytest.raises(InputError, match="no two different scores among 2"):
        read(f"{bad},score=3")
    bad.write_text("a,b,4\nc,d,3\n")
    with pytest.raises(InputError, match="differ in their scores"):
        across(read(sts), read(f"{bad},score=3"))


def test_a_score_is_no_label(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("a\tb\t1\t0.5\n")
    (pair,) = PairSource.parse(f"{path},score=4").pairs()
    assert (pair.label, pair.score) == (None, 0.5)
    (pair,) = PairSource.parse(f"{path},score=4,label=3").pairs()
    assert (pair.label, pair.score) == (1, 0.5)


def test_averaged_vectors_are_those_before_tuning(checkpoint):
    predictor = PairPredictor.load(checkpoint)
    rows = predictor.rows([(a, b) for a, b, _ in STS])
    before = similarities(predictor, rows, "mine")[UNTRAINED[0]]
    with torch.no_grad():
        predictor.model.embedding.table.mul_(torch.randn_like(predictor.model.embedding.table))
    np.testing.assert_array_equal(similarities(predictor, rows, "mine")[UNTRAINED[0]], before)


def test_the_spread_over_checkpoints_is_that_of_a_sample():
    gold = np.arange(4.0)
    assert similarity._cell([gold, gold[::-1]], gold) == "0.0 ± 141.4"
