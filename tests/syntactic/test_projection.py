from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from fairseq_xl.errors import InputError
from fairseq_xl.syntactic.projection import project


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
    points, kept = project(np.array([[3.0, 4, 0], [0, 2, 0], [1, 0, 0]]), "umap", seed=7)
    np.testing.assert_allclose(points, [[0.6, 0.8], [0, 1], [1, 0]], atol=1e-7)
    assert kept is None


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(InputError, match="umap-learn"):
        project(np.eye(3), "umap")
    with pytest.raises(InputError, match="2 sentences are too few"):
        project(np.eye(2))
