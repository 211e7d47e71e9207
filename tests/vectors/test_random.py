from __future__ import annotations

import numpy as np
import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.vectors.random import random_vectors


def test_a_vector_depends_on_the_word_and_the_seed_alone() -> None:
    one = random_vectors(["the", "cat", "Straße"], 20, seed=3)
    other = random_vectors(["Straße", "dog", "the"], 20, seed=3)
    for word in ("the", "Straße"):
        np.testing.assert_array_equal(one.matrix[one.index[word]], other.matrix[other.index[word]])
    reseeded = random_vectors(["the"], 20, seed=4)
    assert abs(reseeded.matrix[0] @ one.matrix[0]) < 0.9


def test_a_known_vector_stays_what_it_was() -> None:
    """Experiments compare across versions: another generator would be another baseline."""
    vector = random_vectors(["the"], 3, seed=0).matrix[0]
    np.testing.assert_allclose(vector, KNOWN, atol=1e-6)


def test_vectors_are_unit_and_uniform_on_the_sphere() -> None:
    matrix = random_vectors([f"w{n}" for n in range(2000)], 10).matrix
    assert matrix.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(matrix, axis=1), 1, atol=1e-6)
    # The mean of 2000 unit vectors in 10 dimensions has length about 1/sqrt(2000) = 0.022.
    assert np.linalg.norm(matrix.mean(0)) < 0.06
    np.testing.assert_allclose(matrix.T @ matrix / 2000, np.eye(10) / 10, atol=0.015)


def test_repeated_words_count_once() -> None:
    assert random_vectors(["a", "b", "a"], 4).words == ["a", "b"]


def test_a_dimension_below_one_is_refused() -> None:
    with pytest.raises(InputError, match="at least 1, not 0"):
        random_vectors(["a"], 0)


KNOWN = [-0.8392733, -0.4941734, 0.2267444]
