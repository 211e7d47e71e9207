from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from fairseq_xl.io.errors import InputError
from fairseq_xl.vectors.neighbours import nearest
from fairseq_xl.vectors.random import random_vectors
from fairseq_xl.vectors.table import WordVectors
from fairseq_xl.vectors.transform import Transformation
from fairseq_xl.vectors.transform import transform as apply


def transform(vectors: WordVectors, weights: np.ndarray | None = None, **steps: object) -> WordVectors:
    return apply(vectors, Transformation(**steps), weights)


@pytest.fixture
def table() -> WordVectors:
    rng = np.random.default_rng(0)
    scale = np.array([8, 4, 1, 1, 1, 1])
    matrix = rng.standard_normal((200, 6)) * scale + 5
    return WordVectors([f"w{n}" for n in range(200)], matrix.astype(np.float32))


def test_nothing_asked_for_changes_nothing(table: WordVectors) -> None:
    np.testing.assert_array_equal(transform(table).matrix, table.matrix)


def test_the_given_table_stays_as_it_is(table: WordVectors) -> None:
    before = table.matrix.copy()
    transform(table, normalize_first=True, center=True, remove_components=1, normalize=True)
    np.testing.assert_array_equal(table.matrix, before)


def test_centring_takes_the_mean_away(table: WordVectors) -> None:
    centred = transform(table, center=True).matrix
    np.testing.assert_allclose(centred.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(centred - centred[0], table.matrix - table.matrix[0], atol=1e-4)


def test_weights_make_it_the_mean_of_the_text(table: WordVectors) -> None:
    counts = np.arange(200)
    repeated = np.repeat(table.matrix.astype(np.float64), counts, axis=0)  # the table as the text has it
    centred = transform(table, center=True, weights=counts).matrix
    np.testing.assert_allclose(centred, table.matrix - repeated.mean(0), atol=1e-4)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_main_directions_are_taken_away_and_no_others(table: WordVectors, weighted: bool) -> None:
    counts = np.random.default_rng(1).integers(0, 9, 200) if weighted else None
    result = transform(table, remove_components=2, weights=counts).matrix.astype(np.float64)
    text = table.matrix if counts is None else np.repeat(table.matrix, counts, axis=0)
    left = result if counts is None else np.repeat(result, counts, axis=0)
    # An independent route: the singular values of the centred text, less the first two.
    centred = text.astype(np.float64) - text.astype(np.float64).mean(0)
    expected = np.linalg.svd(centred, compute_uv=False)[2:]
    found = np.linalg.svd(left, compute_uv=False)
    np.testing.assert_allclose(found[:4], expected, rtol=1e-4)
    np.testing.assert_allclose(found[4:], 0, atol=1e-3)


@pytest.mark.parametrize("weighted", [False, True])
def test_whitening_gives_every_direction_the_same_variance(table: WordVectors, weighted: bool) -> None:
    counts = np.random.default_rng(1).integers(0, 9, 200) if weighted else None
    white = transform(table, whiten=True, weights=counts).matrix.astype(np.float64)
    text = white if counts is None else np.repeat(white, counts, axis=0)
    np.testing.assert_allclose(text.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(text.T @ text / len(text), np.eye(6), atol=2e-4)


def test_whitening_is_by_the_symmetric_root_of_the_covariance(table: WordVectors) -> None:
    """ZCA: of all the maps that whiten, the one that is symmetric and positive."""
    centred = table.matrix.astype(np.float64) - table.matrix.astype(np.float64).mean(0)
    white = transform(table, whiten=True).matrix
    root = scipy.linalg.sqrtm(centred.T @ centred / 200)
    np.testing.assert_allclose(white @ root, centred, atol=2e-3)


def test_directions_without_variance_stay_small_in_a_white_table(table: WordVectors) -> None:
    removed = transform(table, remove_components=2)  # rounded to float32 on its way
    for white in (transform(removed, whiten=True).matrix, transform(table, remove_components=2, whiten=True).matrix):
        variances = np.linalg.eigvalsh(np.cov(white.T.astype(np.float64), bias=True))
        np.testing.assert_allclose(variances, [0, 0, 1, 1, 1, 1], atol=1e-3)
    few = transform(WordVectors(table.words[:4], table.matrix[:4]), whiten=True).matrix
    variances = np.linalg.eigvalsh(np.cov(few.T.astype(np.float64), bias=True))
    np.testing.assert_allclose(variances, [0, 0, 0, 1, 1, 1], atol=1e-3)


def test_random_shares_are_mixed_into_unit_vectors(table: WordVectors) -> None:
    mixed = transform(table, random_share=0.25, random_seed=3).matrix
    unit = table.matrix / np.linalg.norm(table.matrix, axis=1, keepdims=True)
    expected = 0.75 * unit + 0.25 * random_vectors(table.words, 6, seed=3).matrix
    np.testing.assert_allclose(mixed, expected, atol=1e-6)
    last = transform(table, random_share=0.25, random_seed=3, normalize=True).matrix
    np.testing.assert_allclose(np.linalg.norm(last, axis=1), 1, atol=1e-6)


def test_a_random_share_of_one_leaves_nothing_of_the_vectors(table: WordVectors) -> None:
    for seed in (0, 1):
        random = transform(table, center=True, random_share=1, random_seed=seed).matrix
        np.testing.assert_array_equal(random, random_vectors(table.words, 6, seed).matrix)


def test_normalising_gives_unit_vectors_of_the_same_direction(table: WordVectors) -> None:
    unit = transform(table, normalize=True).matrix
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose((unit * table.matrix).sum(1), np.linalg.norm(table.matrix, axis=1), rtol=1e-5)


def test_normalising_first_makes_lengths_irrelevant(table: WordVectors) -> None:
    longer = WordVectors(table.words, table.matrix * np.linspace(1, 9, 200)[:, None])
    steps = {"normalize_first": True, "center": True, "remove_components": 1, "normalize": True}
    np.testing.assert_allclose(transform(longer, **steps).matrix, transform(table, **steps).matrix, atol=1e-4)


def test_hubs_become_fewer(table: WordVectors) -> None:
    """What the steps are for: no few words are everyone's nearest neighbour (N_k skewness)."""

    def most_often_a_neighbour(vectors: WordVectors) -> int:
        queries = np.random.default_rng(2).standard_normal((500, 40))
        return np.bincount(nearest(vectors.matrix, queries, 5)[0].ravel()).max()

    rng = np.random.default_rng(3)
    matrix = rng.standard_normal((400, 40)) + 2 * rng.standard_normal(40)
    vectors = WordVectors([str(n) for n in range(400)], matrix.astype(np.float32))
    assert most_often_a_neighbour(transform(vectors, center=True)) < 0.6 * most_often_a_neighbour(vectors)


def test_a_vector_that_vanishes_is_named() -> None:
    table = WordVectors(["a", "b", "c"], np.array([[1, 0], [3, 0], [2, 0]], dtype=np.float32))
    with pytest.raises(InputError, match="'c' is zero after the transformation"):
        transform(table, center=True)
    with pytest.raises(InputError, match="'c' is zero after the transformation"):
        transform(table, center=True, normalize=True)
    with pytest.raises(InputError, match="'c' is zero before random ones are mixed in"):
        transform(table, center=True, random_share=0.5)
    with pytest.raises(InputError, match="'a' is zero after the transformation"):
        transform(WordVectors(["a", "b"], np.ones((2, 2), dtype=np.float32)), whiten=True)


def test_impossible_requests_are_refused(table: WordVectors) -> None:
    for count in (6, 7):
        with pytest.raises(InputError, match=f"cannot remove {count} components .* dimension 6"):
            transform(table, remove_components=count)
    with pytest.raises(InputError, match="--remove-components is -1: give a number from 0"):
        transform(table, remove_components=-1)
    for share in (-0.1, 1.1, float("nan")):
        with pytest.raises(InputError, match=r"--random-share is .*: give a (finite number|number from 0 to 1)"):
            transform(table, random_share=share)
    with pytest.raises(InputError, match="counts are all zero"):
        transform(table, center=True, weights=np.zeros(200))
    with pytest.raises(ValueError, match="expected 200 finite weights"):
        transform(table, center=True, weights=np.ones(3))
