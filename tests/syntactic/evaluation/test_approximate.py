from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.evaluation import approximate, neighbours


@pytest.mark.parametrize("kind", ["flat", "hnsw", "ivf"])
def test_an_index_agrees_with_all_pairs(kind: str) -> None:
    pytest.importorskip("faiss")
    draw = np.random.default_rng(0)
    groups = draw.integers(0, 8, 600)
    vectors = draw.standard_normal((8, 6))[groups] + draw.standard_normal((600, 6))
    vectors[:40] = vectors[0]  # a tie of 40, no more than are looked up
    # with 4√600 or 600/40 clusters, effort 16 searches all of them
    found = approximate.accuracies(vectors[40 - 12 :], groups[40 - 12 :], kind, effort=16)
    np.testing.assert_allclose(found, neighbours.accuracies(vectors[40 - 12 :], groups[40 - 12 :]), atol=1e-12)


def test_what_was_not_found_is_no_mate() -> None:
    """Of the third query only itself was found, of the second one other, which is no mate."""
    cosines = np.array([[1, 0.9, 0.5], [1, 0.7, -1], [1, -1, -1]], dtype=np.float32)
    others = np.array([[0, 2, 1], [1, 0, -1], [2, -1, -1]])
    shares = approximate._shares(cosines, others, np.arange(3), np.array([4, 5, 4]), (1, 2))
    np.testing.assert_array_equal(shares, [[1, 0.5], [0, 0], [0, 0]])


def test_sparse_vectors_and_small_sets_are_refused() -> None:
    with pytest.raises(InputError, match="dense"):
        approximate.accuracies(sparse.csr_array(np.eye(9)), np.zeros(9, dtype=np.int64), "flat")
    with pytest.raises(InputError, match="5 sentences are too few"):
        approximate.accuracies(np.eye(5), np.zeros(5, dtype=np.int64), "flat")
