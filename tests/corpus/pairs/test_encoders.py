"""Encoders of sentences."""

from __future__ import annotations

import numpy as np
import pytest

from fairseq_xl.corpus.pairs import encoders
from fairseq_xl.io.errors import InputError


@pytest.fixture
def vectors(tmp_path):
    path = tmp_path / "v.vec"
    path.write_text("4 2\nred 1 0\nblue 0 1\nthe 1 1\nhouse 3 1\n")
    return path


def test_frequent_words_count_less(vectors):
    sentences = ["the red", "the the", "unknown"]
    found = encoders.encode(sentences, f"vectors:{vectors}")
    a, the, red = 1e-3, 3 / 5, 1 / 5  # of five words, one of them unknown
    expected = np.array([a / (a + red) + a / (a + the), a / (a + the)])
    assert found[0] == pytest.approx(expected / np.linalg.norm(expected), rel=1e-5)
    assert found[2].tolist() == [0, 0]
    less = encoders.averaged(["the red", "blue", "house red", "zzz"], vectors, 1)
    _, _, directions = np.linalg.svd(encoders.averaged(["the red", "blue", "house red", "zzz"], vectors, 0))
    assert less @ directions[0] == pytest.approx(0, abs=1e-5)
    assert not less[3].any()


@pytest.mark.parametrize(
    ("encoder", "message"),
    [
        ("gpt", "give KIND:NAME"),
        ("vectors:", "give KIND:NAME"),
        ("array:no.npy", "cannot be read as an array"),
        ("sentence-transformers:x", "sentence_transformers: pip install|cannot load"),
        ("transformers:./none", "transformers: pip install|cannot load"),
    ],
)
def test_encoders_that_cannot_be_used(encoder, message):
    with pytest.raises(InputError, match=message):
        encoders.encode(["a"], encoder)


def test_array_of_other_sentences(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((3, 2)))
    with pytest.raises(InputError, match=r"shape \(3, 2\), but there are 2"):
        encoders.encode(["a", "b"], f"array:{tmp_path / 'x.npy'}")
