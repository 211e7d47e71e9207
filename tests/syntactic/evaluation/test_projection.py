from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.evaluation.projection import project


def test_pca_is_that_of_the_unit_rows() -> None:
    vectors = np.random.default_rng(0).standard_normal((40, 6)) + 2
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    centred = unit - unit.mean(0)
    left, values, _ = np.linalg.svd(centred, full_matrices=False)
    for form in (vectors, sparse.csr_array(vectors)):
        points, kept = project(form)
        for axis in range(2):
            expected = left[:, axis] * values[axis]
            found = points[:, axis] * np.sign(points[:, axis] @ expected)
            np.testing.assert_allclose(found, expected, atol=1e-9)
            assert points[np.abs(points[:, axis]).argmax(), axis] > 0
        assert kept == pytest.approx((values[:2] ** 2).sum() / (values**2).sum())


def test_the_same_vectors_give_the_same_map() -> None:
    vectors = np.random.default_rng(1).standard_normal((30, 4))
    np.testing.assert_array_equal(project(vectors)[0], project(vectors)[0])


def test_umap_is_asked_by_cosine_and_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    class UMAP:
        def __init__(self, metric: str, random_state: int):
            assert (metric, random_state) == ("cosine", 7)

        def fit_transform(self, rows: np.ndarray) -> np.ndarray:
            return rows[:, :2].astype(np.float32)

    monkeypatch.setitem(sys.modules, "umap", SimpleNamespace(UMAP=UMAP))
    points, kept = project(np.array([[3.0, 4, 0], [0, 2, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0]]), "umap", seed=7)
    np.testing.assert_allclose(points, [[0.6, 0.8], [0, 1], [1, 0], [0, 0], [0, 1]], atol=1e-7)
    assert kept is None


def test_umap_gets_scipys_older_sparse_class(monkeypatch: pytest.MonkeyPatch) -> None:
    class UMAP:
        def __init__(self, **options: object):
            pass

        def fit_transform(self, rows: object) -> np.ndarray:
            assert isinstance(rows, sparse.csr_matrix)
            return rows.toarray()[:, :2]

    monkeypatch.setitem(sys.modules, "umap", SimpleNamespace(UMAP=UMAP))
    assert project(sparse.csr_array(np.eye(5)), "umap")[0].shape == (5, 2)


def test_umap_itself_takes_sparse_and_few_rows() -> None:
    pytest.importorskip("umap")
    for rows in (np.eye(5), sparse.csr_array(np.eye(5)), np.random.default_rng(0).standard_normal((5, 8))):
        assert project(rows, "umap")[0].shape == (5, 2)


@pytest.mark.parametrize("vectors", [np.ones((4, 3)), np.zeros((4, 3)), np.outer(np.arange(1, 9), [0.1, 0.2, 0.7])])
def test_embeddings_that_are_all_alike(vectors: np.ndarray) -> None:
    with pytest.raises(InputError, match="all embeddings point the same way"):
        project(vectors)


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(InputError, match=r"--method umap needs the package umap: bash scripts/setup.sh --extras map"):
        project(np.eye(5), "umap")
    with pytest.raises(InputError, match="3 sentences are too few for a map by umap: give at least 5"):
        project(np.eye(3), "umap")
    with pytest.raises(InputError, match="2 sentences are too few"):
        project(np.eye(2))
