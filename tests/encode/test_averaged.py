"""Averages of word vectors: plain and SIF."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fairseq_xl.encode.averaged import MEAN, Averaging, means, words_of
from fairseq_xl.io.errors import InputError


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    path = tmp_path / "en.vec"
    path.write_text("3 2\na 1 3\nb 3 5\nc 0 1\n", encoding="utf-8")
    return path


def test_words_are_cut_where_they_end() -> None:
    assert words_of("Don't go, 3x!") == ["Don", "'", "t", "go", ",", "3x", "!"]
    assert words_of("我是学生OK。") == ["我", "是", "学", "生", "OK", "。"]
    assert words_of("나는 학생이다.") == ["나는", "학생이다", "."]


def test_unknown_words_are_left_out(vectors: Path) -> None:
    found = MEAN.encode(["a b x", "b", "x", ""], vectors)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, [[2, 4], [3, 5], [0, 0], [0, 0]])


def test_no_sentences_have_no_rows() -> None:
    assert means([], np.zeros((3, 2)), {}).shape == (0, 2)


def test_sif_by_hand(vectors: Path) -> None:
    """Of six words a is three, b two and c one; the weight is a/(a + p)."""
    sentences = ["a b", "A a c", "A B"]
    sif = Averaging(lambda line: line.lower().split(), smoothing=0.5)
    a, b, c = (0.5 / (0.5 + share) for share in (4 / 7, 2 / 7, 1 / 7))
    table = {"a": a * np.array([1, 3]), "b": b * np.array([3, 5]), "c": c * np.array([0, 1])}
    expected = [np.mean([table[word] for word in line.lower().split()], axis=0) for line in sentences]
    np.testing.assert_allclose(sif.encode(sentences, vectors), expected, rtol=1e-6)
    apart = Averaging(sif.words, smoothing=0.5, components=1).encode([*sentences, "x"], vectors)
    _, _, directions = np.linalg.svd(np.array(expected), full_matrices=False)
    assert np.abs(apart @ directions[0]).max() < 0.3  # "x" changes the shares a little
    np.testing.assert_array_equal(apart[3], [0, 0])


def test_vectors_of_another_language_are_refused(vectors: Path) -> None:
    with pytest.raises(InputError, match=r"en\.vec has no vector for any word of the sentences"):
        MEAN.encode(["x y"], vectors)
