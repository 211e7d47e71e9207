"""A trained classifier as a judge of raw text."""

from __future__ import annotations

import numpy as np
import pytest

from fairseq_xl import SentenceEncoder
from fairseq_xl.cli.main import main
from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.prediction.predictor import PairPredictor


def test_new_words_get_vectors_of_the_file(prepared, files, checkpoint, tmp_path):
    """``dinero`` is in no pair; with the vector of ``tarjeta`` it means the same to the model."""
    vectors = tmp_path / "more.vec"
    lines = (files / "words.vec").read_text(encoding="utf-8").split("\n")
    card = next(line for line in lines if line.startswith("tarjeta"))
    vectors.write_text("1 8\n" + card.replace("tarjeta", "dinero") + "\n", encoding="utf-8")
    predictor = PairPredictor.load(checkpoint, device="cpu")
    pairs = [("quiero mi dinero", "ver visa"), ("quiero mi tarjeta", "ver visa")]
    rows = predictor.rows(pairs)
    unknown, known = predictor.logits(rows)
    assert unknown != known
    assert predictor.learn_words(rows, vectors) == 1
    np.testing.assert_allclose(predictor.logits(rows), [known, known], atol=1e-6)


def test_what_is_no_pair_of_sentences_is_refused(checkpoint):
    """An empty sentence had a probability, and of one text each letter was a sentence."""
    predictor = PairPredictor.load(str(checkpoint), device="cpu")
    with pytest.raises(InputError, match="has no languages: leave languages out"):
        predictor.judge("ver visa", ["mi tarjeta"], ("es", "es"))
    with pytest.raises(InputError, match=r"has no languages: leave --languages \(in Python language=\) out"):
        SentenceEncoder.load(checkpoint, "cpu").encode(["ver visa"], language="es")
    with pytest.raises(InputError, match="pair 2: the right is empty: leave the pair out"):
        predictor.judge("ver visa", ["mi tarjeta", " "])
    with pytest.raises(TypeError, match="not one string"):
        predictor.judge("ver visa", "mi tarjeta")
    for wrong in ("ab", ("a", "b", "c")):
        with pytest.raises(TypeError, match="give a list of pairs of sentences: pair 1 is"):
            predictor.rows([wrong])


def test_a_model_without_a_fold_has_no_record_of_one(checkpoint, tmp_path, capsys):
    output = tmp_path / "fold.json"
    assert main(["match", "predict", str(checkpoint), "--split", "fold", "--output", str(output)]) == 2
    assert "was trained without --fold: name a split, such as valid" in capsys.readouterr().err
    assert not output.exists()
