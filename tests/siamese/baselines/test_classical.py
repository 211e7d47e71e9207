"""What fastText, word vectors and sentence-transformers need, and what does not mislead them."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from telling_words import sentences

from fairseq_xl.io.errors import InputError
from fairseq_xl.siamese.baselines import Training, fit

pytest.importorskip("sklearn")
pytest.importorskip("gensim")
pytest.importorskip("fasttext")


def test_fasttext_learns_from_a_file_that_is_sorted_by_class():
    """It reads sentences in order; two files, one of each class, are the usual form of reviews."""
    texts, labels = sentences(2000, 3, misleading=0.2)
    order = np.argsort(labels, kind="stable")
    training = Training([texts[i] for i in order], labels[order], texts[:9], labels[:9], 2, 1)
    tested, expected = sentences(300, 4)
    assert (fit("fasttext", training)(tested) == expected).mean() >= 0.85


def test_a_text_may_have_what_fasttext_calls_a_label(data):
    training, texts, _ = data
    marked = replace(training, texts=[*training.texts[:-1], training.texts[-1] + " __label__x"])
    assert set(fit("fasttext", marked)(["__label__x fine", *texts])) <= {0, 1}


@pytest.mark.parametrize("name", ["asv", "dsc-t"])
def test_word_vectors_need_a_word_twice(data, name):
    once = replace(data[0], texts=["one", "two"], labels=np.array([0, 1]), more_text=())
    with pytest.raises(InputError, match="need a word that stands twice"):
        fit(name, once)


def test_a_model_that_is_not_there(data, monkeypatch):
    def missing(name):
        raise OSError(f"{name} is not a local folder")

    monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=missing))
    with pytest.raises(InputError, match="sentence-transformers cannot load 'NONE' \\(NONE is not a local folder"):
        fit("st", replace(data[0], model="NONE"))


def test_what_a_baseline_needs_is_said(data):
    with pytest.raises(InputError, match="name it with --model"):
        fit("st", data[0])
