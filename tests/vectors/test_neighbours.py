from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.io.errors import InputError
from fairseq_xl.vectors import neighbours as module
from fairseq_xl.vectors.neighbours import nearest, neighbours
from fairseq_xl.vectors.table import WordVectors


@given(
    seed=st.integers(0, 1000),
    rows=st.integers(2, 40),
    k=st.integers(1, 50),
    chunk=st.integers(1, 45),
    block=st.integers(1, 200),
    penalised=st.booleans(),
)
def test_chunks_and_blocks_find_what_a_full_sort_finds(seed, rows, k, chunk, block, penalised) -> None:
    random = np.random.default_rng(seed)
    matrix = random.standard_normal((rows, 5)).astype(np.float32)
    penalty = random.random(rows).astype(np.float32) if penalised else None
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    cosines = unit @ unit.T - (0 if penalty is None else penalty)
    expected = np.argsort(-cosines, axis=1)[:, :k]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK", block)
        found, values = nearest(matrix, matrix, k, penalty=penalty, chunk_rows=chunk)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(values, np.take_along_axis(cosines, expected, 1), atol=1e-5)


def test_many_queries_need_little_memory() -> None:
    matrix = np.random.default_rng(1).standard_normal((20_000, 2)).astype(np.float32)
    tracemalloc.start()
    try:
        nearest(matrix, matrix[:4_000], 1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.25 * 2**30, "all cosines at once, with what finds the largest, take 2 GiB"


def test_only_directions_count_and_equals_keep_their_order() -> None:
    matrix = np.array([[1, 0], [0, 5], [100, 0], [-1, 0], [0.5, 0]], dtype=np.float32)
    found = neighbours(WordVectors(["a", "b", "c", "d", "e"], matrix), ["a", "b"], k=9)
    assert [word for word, _ in found["a"]] == ["c", "e", "b", "d"]
    assert [cosine for _, cosine in found["a"]] == [1, 1, 0, -1]
    assert len(found["b"]) == 4
    assert "b" not in dict(found["b"])
    among = neighbours(WordVectors(["a", "b", "c", "d", "e"], matrix), ["a", "b"], k=1, among={"a", "d"})
    assert among == {"a": [("d", -1)], "b": [("a", 0)]}


def test_an_unknown_word_is_named_with_a_hint() -> None:
    table = WordVectors(["house", "Berlin"], np.eye(2, dtype=np.float32))
    with pytest.raises(InputError, match=r"'House' has no vector .* did you mean 'house'"):
        neighbours(table, ["House"])
    with pytest.raises(InputError, match=r"'berlin' .* did you mean 'Berlin'"):
        neighbours(table, ["berlin"])
    with pytest.raises(InputError, match=r"'x' has no vector among the 2 words$"):
        neighbours(table, ["x"])


def test_no_neighbours_cannot_be_asked_for() -> None:
    with pytest.raises(InputError, match="at least 1, not 0"):
        nearest(np.eye(2), np.eye(2), 0)
