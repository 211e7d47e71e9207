"""A bias for each class that raises macro-F1."""

import numpy as np
import pytest

from fairseq_xl.cli.main import main
from fairseq_xl.report.classification import confusion, macro_f1
from fairseq_xl.siamese.prediction.bias import fit_bias


def test_a_class_that_is_taken_too_often_is_lowered():
    """Scores of three classes, the last of which is rare and 0.4 too high."""
    random = np.random.default_rng(1)
    gold = random.choice(3, 400, p=[0.5, 0.45, 0.05])
    scores = np.eye(3)[gold] * 0.5 + random.normal(0, 0.2, (400, 3)) + [0, 0, 0.4]

    def quality(bias):
        return macro_f1(confusion(gold.tolist(), (scores + bias).argmax(1).tolist(), 3))

    found = fit_bias(scores[:200], gold[:200])
    assert found[2] < max(found[:2]) - 0.2
    other = macro_f1(confusion(gold[200:].tolist(), (scores[200:] + found).argmax(1).tolist(), 3))
    assert other > macro_f1(confusion(gold[200:].tolist(), scores[200:].argmax(1).tolist(), 3)) + 0.05
    assert quality(found) > quality(np.zeros(3)) + 0.05


def test_what_is_right_stays():
    gold = np.array([0, 1, 2, 0])
    assert fit_bias(np.eye(3)[gold], gold).tolist() == [0, 0, 0]


def test_it_is_not_fitted_on_what_is_reported(tmp_path, capsys):
    words = [
        "classify",
        "predict",
        str(tmp_path / "x.pt"),
        "--split",
        "valid",
        "--class-bias",
        "-o",
        str(tmp_path / "r"),
    ]
    assert main(words) == 2
    assert "--class-bias is fitted on the split valid" in capsys.readouterr().err
    assert main([*words[:3], str(tmp_path / "text"), *words[3:5], *words[6:]]) == 2
    assert "--split judges the data's own text: leave out the file" in capsys.readouterr().err
    assert main([*words[:3], "--curve", "a", "3"]) == 2
    assert "--curve is of the record of --split, which is not given: leave it out" in capsys.readouterr().err


@pytest.mark.parametrize("count", [1, 2])
def test_few_sentences(count):
    assert np.isfinite(fit_bias(np.zeros((count, 2)), np.arange(count))).all()
