from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.evaluation import cosines, neighbours


def by_all_orders(cosine: np.ndarray, groups: np.ndarray, i: int, k: int) -> float:
    """The mean share of mates among the k nearest over every order that sorts by falling cosine."""
    others = [j for j in range(len(groups)) if j != i]
    falling = sorted((cosine[i, j] for j in others), reverse=True)
    shares = [
        np.mean([groups[j] == groups[i] for j in order[:k]])
        for order in itertools.permutations(others)
        if [cosine[i, j] for j in order] == falling
    ]
    return float(np.mean(shares))


def test_by_hand_on_a_circle() -> None:
    """Angles 0, 10, 25 (group 0) and 28, 100 (group 1): the nearest of 25 is 28, of 100 is 28."""
    angle = np.radians([0, 10, 25, 28, 100])
    vectors = np.stack([np.cos(angle), np.sin(angle)], axis=1) * np.array([[1], [7], [0.1], [2], [1]])
    found = neighbours.accuracies(vectors, np.array([0, 0, 0, 1, 1]), ks=(1, 2))
    np.testing.assert_allclose(found, [[1, 1], [1, 1], [0, 0.5], [0, 0], [1, 0.5]])


@given(seed=st.integers(0, 10_000), k=st.integers(1, 4))
def test_equally_near_sentences_count_by_their_mean(seed: int, k: int) -> None:
    draw = np.random.default_rng(seed)
    # Few distinct directions of different lengths, some rows of zeros: many ties.
    vectors = draw.integers(0, 2, (6, 2)) * draw.uniform(0.5, 9, (6, 1))
    groups = draw.integers(0, 2, 6)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(norms > 0, norms, 1)
    cosine = np.round(unit @ unit.T, 9)
    expected = [by_all_orders(cosine, groups, i, k) for i in range(6)]
    for form in (vectors, sparse.csr_array(vectors)):
        found = neighbours.accuracies(form, groups, ks=(k,))
        np.testing.assert_allclose(found[:, 0], expected, atol=1e-12)


@given(seed=st.integers(0, 1000))
def test_blocks_and_order_do_not_matter(seed: int) -> None:
    draw = np.random.default_rng(seed)
    vectors = draw.integers(-2, 3, (37, 3)).astype(np.float32)
    groups = draw.integers(0, 4, 37)
    whole = neighbours.accuracies(vectors, groups)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cosines, "BLOCK_BYTES", 8 * 37 * 5)
        np.testing.assert_allclose(neighbours.accuracies(vectors, groups), whole)
    order = draw.permutation(37)
    np.testing.assert_allclose(neighbours.accuracies(vectors[order], groups[order]), whole[order])


def test_differences_that_float32_loses_still_decide() -> None:
    """All cosines lie within 1e-7 of each other, as those of embeddings with a large common part."""
    vectors = np.array([[1e4, 0], [1e4, 1], [1e4, 3], [1e4, 4.5]])
    found = neighbours.accuracies(vectors, np.array([0, 0, 1, 1]), ks=(1,))
    np.testing.assert_array_equal(found[:, 0], [1, 1, 1, 1])


def test_what_is_attainable_and_what_chance_gives() -> None:
    groups = np.array([0, 0, 0, 1, 2, 2])
    np.testing.assert_allclose(neighbours.attainable(groups, (1, 5))[:, 1], [0.4, 0.4, 0.4, 0, 0.2, 0.2])
    np.testing.assert_array_equal(neighbours.attainable(groups, (1, 5))[:, 0], [1, 1, 1, 0, 1, 1])
    assert neighbours.chance(groups) == pytest.approx((3 * 2 + 0 + 2 * 1) / 6 / 5)
    # equal vectors everywhere are a draw at random
    found = neighbours.accuracies(np.ones((6, 2)), groups, ks=(1, 3))
    np.testing.assert_allclose(found.mean(0), neighbours.chance(groups))


def test_a_perfect_embedding_reaches_what_is_attainable() -> None:
    groups = np.array([0] * 7 + [1] * 3 + [2] * 6)
    vectors = np.eye(3)[groups] + 1e-3 * np.random.default_rng(0).standard_normal((16, 3))
    found = neighbours.accuracies(vectors, groups)
    np.testing.assert_allclose(found, neighbours.attainable(groups))


def test_a_set_is_described_by_size_and_length() -> None:
    patterns = [("DET", "NOUN")] * 3 + [("NOUN", "VERB")] * 2 + [("NOUN",)] * 6
    about = neighbours.describe(patterns, ks=(1, 5))
    assert (about["sentences"], about["groups"], about["smallest"], about["largest"]) == (11, 3, 2, 6)
    assert about["length"] == {"1": {"sentences": 6, "groups": 1}, "2": {"sentences": 5, "groups": 2}}
    assert about["attainable"] == {"1-NN": 100.0, "5-NN": pytest.approx(100 * (3 * 0.4 + 2 * 0.2 + 6) / 11)}


def test_accuracies_are_given_by_length() -> None:
    patterns = [("NOUN",)] * 3 + [("DET", "NOUN")] * 2 + [("NOUN", "VERB")] * 2
    vectors = np.eye(2)[[0, 0, 0, 1, 1, 1, 1]]
    shares = neighbours.accuracies(vectors, neighbours.group_numbers(patterns), (1,))
    found = neighbours.by_length(shares, patterns, (1,))
    assert found["length"] == {"1": {"1-NN": 100.0}, "2": {"1-NN": pytest.approx(100 / 3)}}
    assert found["1-NN"] == pytest.approx((300 + 4 * 100 / 3) / 7)


def test_too_few_sentences_are_refused() -> None:
    with pytest.raises(InputError, match="5 sentences are too few for 5 neighbours"):
        neighbours.accuracies(np.eye(5), np.zeros(5, dtype=np.int64))


def test_a_sentence_is_never_its_own_neighbour() -> None:
    found = neighbours.accuracies(np.eye(3), np.array([0, 1, 2]), ks=(1,))
    np.testing.assert_array_equal(found, np.zeros((3, 1)))


def test_expected_share_by_hand() -> None:
    """Of four candidates one is nearer, a mate; three are equal, one of them a mate; k = 2: (1 + 1/3) / 2."""
    query = torch.zeros(4, dtype=torch.long)
    cosine = torch.tensor([0.9, 0.5, 0.5, 0.5], dtype=torch.float64)
    mate = torch.tensor([True, False, True, False])
    share = neighbours.expected_share(query, cosine, mate, cosine[1:2], 2)
    assert share.tolist() == [pytest.approx(2 / 3)]
