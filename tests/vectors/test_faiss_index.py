"""Indices over vectors."""

from __future__ import annotations

import numpy as np
import pytest

from fairseq_xl.vectors.faiss_index import KINDS, build_index, set_effort

pytest.importorskip("faiss")


@pytest.mark.parametrize("kind", KINDS)
def test_every_vector_is_its_own_nearest(kind: str) -> None:
    vectors = np.random.default_rng(0).standard_normal((400, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    index = build_index(vectors, kind)
    set_effort(index, kind, 16.0)  # of ivf: every cluster
    similarities, found = index.search(vectors[:50], 1)
    assert found[:, 0].tolist() == list(range(50))
    assert np.allclose(similarities, 1, atol=1e-5)
