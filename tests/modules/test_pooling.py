"""Pooling: against loops over single sentences; padding takes no part."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.modules.pooling import KINDS, max_pool, mean_pool, pool

LENGTHS = st.lists(st.integers(0, 6), min_size=1, max_size=5)


@given(lengths=LENGTHS, seed=st.integers(0, 9), fill=st.sampled_from([-9.0, 0.0, 9.0, float("inf")]))
def test_each_sentence_is_pooled_over_its_own_words(lengths, seed, fill):
    steps = max(*lengths, 1)
    states = torch.randn(len(lengths), steps, 3, generator=torch.Generator().manual_seed(seed)) - 2
    padding = torch.arange(steps) >= torch.tensor(lengths).unsqueeze(1)
    states[padding] = fill
    for row, length in enumerate(lengths):
        words = states[row, :length]
        largest = words.amax(0) if length else torch.zeros(3)
        mean = words.mean(0) if length else torch.zeros(3)
        assert torch.equal(max_pool(states, padding)[row], largest)
        assert torch.allclose(mean_pool(states, padding)[row], mean, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_reach_words_only(kind):
    states = torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)
    padding = torch.tensor([[False, False, True], [True, True, True]])
    assert torch.autograd.gradcheck(lambda x: pool(kind, x, padding), states)
    pool(kind, states, padding).sum().backward()
    assert states.grad[padding].eq(0).all()
    assert states.grad[0, :2].sum().isclose(torch.tensor(4.0, dtype=torch.float64))


def test_another_kind_is_refused():
    with pytest.raises(ValueError, match="one of max, mean, not 'min'"):
        pool("min", torch.zeros(1, 1, 1), torch.zeros(1, 1, dtype=torch.bool))
