from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from fairseq_xl.syntactic.evaluation import cosines
from fairseq_xl.syntactic.evaluation.dissimilarity import dissimilarities
from fairseq_xl.syntactic.evaluation.similarity import similarities

PATTERNS = [("NOUN",), ("NOUN", "VERB"), ("DET", "NOUN", "VERB")]


def test_by_hand() -> None:
    """L = [[1, ½, ⅓], [½, 1, ⅔], [⅓, ⅔, 1]]; cosines of 0°, 60°, 90° are 1, ½, 0 and √¾, which min-max leaves."""
    angle = np.radians([0, 60, 90])
    vectors = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    (score,), constant = dissimilarities([vectors], PATTERNS)
    off = [(1 / 2, 1 / 2), (1 / 3, 0.0), (2 / 3, np.sqrt(3) / 2)]
    assert score["similarity"] == pytest.approx(np.sqrt(2 * sum((u - d) ** 2 for u, d in off)) / 3)
    literal = np.sqrt(3 * 1 + 2 * sum((u - (1 - d)) ** 2 for u, d in off)) / 3
    assert score["literal"] == pytest.approx(literal)
    assert constant == pytest.approx(np.std([1, 1, 1, *(u for u, _ in off), *(u for u, _ in off)]))
    assert score["correlation"] == pytest.approx(np.corrcoef(*zip(*off, strict=True))[0, 1])


@given(seed=st.integers(0, 1000))
def test_against_whole_matrices(seed: int) -> None:
    draw = np.random.default_rng(seed)
    patterns = [tuple(draw.choice(list("NVDA"), draw.integers(1, 6))) for _ in range(13)]
    several = [draw.standard_normal((13, 3)), draw.standard_normal((13, 5)).astype(np.float32)]
    several.append(sparse.csr_array(several[0]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cosines, "BLOCK_BYTES", 8 * 13 * 4)
        scores, constant = dissimilarities(several, patterns)
    wanted = similarities(patterns, patterns)
    assert constant == pytest.approx(wanted.std())
    for vectors, score in zip(several[:2], scores, strict=False):
        unit = vectors / np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
        similar = unit @ unit.T

        def of(matrix: np.ndarray) -> np.ndarray:
            return (matrix - matrix.min()) / (matrix.max() - matrix.min())

        assert score["similarity"] == pytest.approx(np.linalg.norm(wanted - of(similar)) / 13)
        assert score["literal"] == pytest.approx(np.linalg.norm(wanted - of(1 - similar)) / 13)
        # two distance matrices say what two similarity matrices say
        assert score["similarity"] == pytest.approx(np.linalg.norm((1 - wanted) - of(1 - similar)) / 13)
        apart = ~np.eye(13, dtype=bool)
        assert score["correlation"] == pytest.approx(np.corrcoef(wanted[apart], similar[apart])[0, 1])
    assert scores[2] == pytest.approx(scores[0])


def test_embeddings_that_follow_the_tags_score_lower() -> None:
    tags = np.array([[1, 0.9, 0], [0.9, 1, 0.1], [0, 0.1, 1]])
    follows, against = tags, tags[[2, 1, 0]]
    patterns = [("NOUN", "VERB"), ("NOUN", "VERB", "PUNCT"), ("X",)]
    (good, bad), _ = dissimilarities([follows, against @ np.diag([1, 5, 0.1])], patterns)
    assert good["similarity"] < bad["similarity"]
    assert good["correlation"] > bad["correlation"]


@pytest.mark.parametrize(
    ("rows", "alike"),
    [
        ([[1, 2], [2, 4], [0.1, 0.2]], True),
        ([[0, 0], [0, 0]], True),
        ([[0, 0], [1, 2], [0, 0]], False),
        ([[1, 2], [0, 0]], False),
        ([[1, 2], [1, 2], [1, 2.001]], False),
    ],
)
def test_embeddings_that_are_all_alike_have_no_score(rows: list[list[float]], alike: bool) -> None:
    vectors = np.array(rows, dtype=np.float64)
    scores, _ = dissimilarities([vectors, sparse.csr_array(vectors)], [("X",)] * len(vectors))
    assert [score is None for score in scores] == [alike, alike]
