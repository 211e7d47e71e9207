"""The Python batching against definitions that look at whole batches instead of a running state."""

import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairseq_xl.compat.stand_ins import batching

lengths = st.lists(st.integers(1, 40), min_size=0, max_size=50)


def fits(sizes, max_tokens, max_sentences):
    tokens = len(sizes) * max(sizes)
    return not (0 < max_sentences < len(sizes)) and not (0 < max_tokens < tokens)


def batch_by_definition(sizes, max_tokens, max_sentences, multiple):
    """Batches by looking back from each sentence, from scratch each time.

    A batch runs from ``start``; ``whole`` is the last place where it could be cut so that it is
    small or a multiple. When it no longer fits with the next sentence it is cut there; if even the
    rest does not fit, the rest without this sentence is a batch of its own.
    """
    cuts = [0]
    whole = 0
    for end in range(1, len(sizes) + 1):
        start = cuts[-1]
        if not fits(sizes[start:end], max_tokens, max_sentences):
            rest = sizes[whole:end]
            if max_tokens > 0 and len(rest) * max(rest) > max_tokens:
                cuts += [whole, end - 1]
            else:
                cuts += [whole]
            whole = end
        elif end - start < multiple or (end - start) % multiple == 0:
            whole = end
    cuts += [whole, len(sizes)]
    return [list(range(a, b)) for a, b in itertools.pairwise(cuts) if b > a]


@given(lengths, st.sampled_from([-1, 0, 40, 65, 200]), st.sampled_from([-1, 0, 1, 3, 7]))
def test_without_multiples_batches_are_greedy(sizes, max_tokens, max_sentences):
    batches = batching.batch_by_size_vec(
        np.arange(len(sizes)), np.array(sizes, dtype=np.int64), max_tokens, max_sentences, 1
    )
    greedy: list[list[int]] = []
    for i, size in enumerate(sizes):
        if greedy and fits([sizes[j] for j in greedy[-1]] + [size], max_tokens, max_sentences):
            greedy[-1].append(i)
        else:
            greedy.append([i])
    assert [b.tolist() for b in batches] == greedy


@settings(max_examples=300)
@given(lengths, st.sampled_from([-1, 40, 65, 200]), st.sampled_from([-1, 1, 3, 7]), st.sampled_from([1, 2, 3, 8]))
def test_batches_match_the_definition(sizes, max_tokens, max_sentences, multiple):
    indices = np.random.default_rng(len(sizes)).permutation(len(sizes))
    vector = np.array(sizes, dtype=np.int64)
    expected = batch_by_definition(sizes, max_tokens, max_sentences, multiple)
    batches = batching.batch_by_size_vec(indices, vector, max_tokens, max_sentences, multiple)
    assert [b.tolist() for b in batches] == [indices[e].tolist() for e in expected]
    size_of = dict(zip(indices.tolist(), sizes, strict=True))
    by_function = batching.batch_by_size_fn(indices, size_of.__getitem__, max_tokens, max_sentences, multiple)
    assert [b.tolist() for b in by_function] == [b.tolist() for b in batches]
    for batch in expected:
        assert fits([sizes[i] for i in batch], max_tokens, max_sentences)


def test_a_known_case_of_the_compiled_function():
    # Made with fairseq's own extension: 5 sentences of 4 tokens, at most 16 tokens, multiples of 3.
    sizes = np.array([4, 4, 4, 4, 4], dtype=np.int64)
    batches = batching.batch_by_size_vec(np.arange(5), sizes, 16, -1, 3)
    assert [b.tolist() for b in batches] == [[0, 1, 2], [3, 4]]


def test_a_sentence_over_the_limit_is_refused():
    with pytest.raises(AssertionError, match="max_tokens=3"):
        batching.batch_by_size_vec(np.arange(2), np.array([2, 4]), 3, -1, 1)


def test_fixed_shapes():
    shapes = np.array([[2, 10], [4, 5]])
    sizes = [5, 5, 5, 5, 9, 9, 9]
    batches = batching.batch_fixed_shapes_fast(np.arange(7), sizes.__getitem__, shapes)
    assert batches == [[0, 1, 2, 3], [4, 5], [6]]
    # The length of a batch's first sentence is forgotten, as in the compiled function.
    batches = batching.batch_fixed_shapes_fast(np.arange(4), [3, 10, 3, 3].__getitem__, np.array([[4, 5], [2, 10]]))
    assert batches == [[0, 1], [2, 3]]


def test_a_corpus_is_batched_in_a_blink():
    sizes = np.sort(np.random.default_rng(0).integers(3, 40, 29_000))
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        batching.batch_by_size_vec(np.arange(29_000), sizes, 4000, -1, 8)
        best = min(best, time.process_time() - start)
    assert best < 0.2
