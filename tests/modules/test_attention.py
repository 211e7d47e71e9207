"""Attention scores by their definitions, and exact masking."""

import pytest
import torch

from fairseq_xl.modules.attention import KINDS, Attention


@pytest.fixture
def scene():
    torch.manual_seed(0)
    padding = torch.tensor([[False, False, False, False], [False, False, True, True]])
    return torch.randn(2, 3, 6), torch.randn(2, 4, 6), padding


@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_a_distribution_over_words_only(kind, scene):
    query, states, padding = scene
    attention = Attention(kind, 6, 6)
    context, weights = attention(query, attention.project(states), states, padding)
    assert torch.allclose(weights.sum(-1), torch.ones(2, 3))
    assert (weights[1, :, 2:] == 0).all()
    assert torch.allclose(context, weights @ states)
    changed = states.clone()
    changed[1, 2:] = 99.0
    again, _ = attention(query, attention.project(changed), changed, padding)
    assert torch.allclose(again, context, atol=1e-6)


def test_scores_by_definition(scene):
    query, states, padding = scene
    for kind in KINDS:
        attention = Attention(kind, 6, 6)
        _, weights = attention(query, attention.project(states), states, padding)
        q, k = query[0, 1], states[0]
        if kind == "dot":
            scores = k @ q
        elif kind == "general":
            scores = (k @ attention.key_projection.weight.t()) @ q
        else:
            inner = attention.query_projection(q) + attention.key_projection(k)
            scores = torch.tanh(inner) @ attention.score
        assert torch.allclose(weights[0, 1], scores.softmax(-1), atol=1e-6)


def test_sizes_may_differ_unless_dot():
    query, states = torch.randn(1, 2, 6), torch.randn(1, 3, 4)
    padding = torch.zeros(1, 3, dtype=torch.bool)
    for kind in ("general", "additive"):
        attention = Attention(kind, 6, 4)
        context, _ = attention(query, attention.project(states), states, padding)
        assert context.shape == (1, 2, 4)
    with pytest.raises(ValueError, match="not 4 and 6"):
        Attention("dot", 6, 4)


def test_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="'concat'"):
        Attention("concat", 4, 4)
