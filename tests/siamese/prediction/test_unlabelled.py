"""Classes for pairs without labels, from their high-resource side."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from fairseq_xl.cli.main import main
from fairseq_xl.siamese.models.voting_options import ReferenceVoting
from fairseq_xl.siamese.prediction.classifier import TextClassifier
from fairseq_xl.siamese.prediction.unlabelled import Labelled, label_pairs

pytestmark = pytest.mark.slow  # trains an encoder


def test_pairs_are_labelled_by_the_command(checkpoint, tmp_path, capsys):
    high, low, *out = (tmp_path / name for name in ("high", "low", "high.tsv", "low.tsv"))
    high.write_text("మంచి సినిమా\nζζζ\n\x00\n", encoding="utf-8")
    low.write_text("a\nb\nc\n")
    words = ["classify", "label", str(checkpoint), str(high), str(low), "--device", "cpu", "-o", *map(str, out)]
    assert main(words) == 0
    assert out[1].read_text() == "pos\ta\n"
    said = "1 pairs labelled (pos 1), 0 left out as unsure, 1 as guesses, for they have no n-gram"
    assert said in (err := capsys.readouterr().err)
    assert err.endswith("that the training text has, 1 as empty\n")
    assert main([*words, "--least", "0.6", "--rule", "centroid"]) == 2
    assert "--least has no use with the rule centroid" in capsys.readouterr().err
    assert main([*words[:-1], str(out[0])]) == 2
    assert "high.tsv twice" in capsys.readouterr().err


def test_unlabelled_pairs_take_the_class_of_the_high_resource_side(checkpoint):
    classifier = TextClassifier.load(checkpoint, ReferenceVoting(references=20), device="cpu")
    pairs = [("the film was great", "సినిమా"), ("the day was awful", "రోజు")]
    count = Labelled()
    found = list(label_pairs(pairs, lambda texts: classifier.predict(texts, "high", 0), 0.5, count))
    assert [row[0] for row in found] == ["pos", "neg"]
    assert str(count) == "2 pairs labelled (neg 1, pos 1), 0 left out as unsure"
    assert not list(label_pairs(pairs, lambda texts: classifier.predict(texts, "high", 0), 1.01, count))


def test_a_share_that_is_just_enough():
    def predict(lines):
        return [SimpleNamespace(known=1, label="pos", scores={"pos": 0.5, "neg": 0.5}) for _ in lines]

    assert list(label_pairs([("high", "low")], predict, 0.5, Labelled())) == [("pos", "high", "low")]
