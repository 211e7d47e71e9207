"""Attention of decoder states over encoder states: dot, general and additive."""

from __future__ import annotations

import torch
from torch import Tensor, nn

KINDS = ("dot", "general", "additive")


class Attention(nn.Module):
    """One context vector per query (Bahdanau et al. 2015; Luong et al. 2015, section 3.1).

    Args:
        kind: ``dot`` (qᵀk, equal sizes), ``general`` (qᵀWk) or ``additive`` (vᵀ tanh(W_q q + W_k k)).
        query_dim: size of a decoder state.
        key_dim: size of an encoder state.

    Raises:
        ValueError: unknown kind, or ``dot`` between different sizes.
    """

    def __init__(self, kind: str, query_dim: int, key_dim: int):
        super().__init__()
        if kind not in KINDS:
            raise ValueError(f"attention is one of {', '.join(KINDS)}, not {kind!r}")
        if kind == "dot" and query_dim != key_dim:
            raise ValueError(
                f"dot attention needs encoder and decoder states of one size, not {key_dim} and {query_dim}"
            )
        if kind != "dot":
            self.key_projection = nn.Linear(key_dim, query_dim, bias=False)
        if kind == "additive":
            self.query_projection = nn.Linear(query_dim, query_dim)
            self.score = nn.Parameter(torch.empty(query_dim).uniform_(-0.1, 0.1))

    def project(self, states: Tensor) -> Tensor:
        """What can be computed once per source: keys (N, S, query_dim) from states (N, S, key_dim)."""
        if hasattr(self, "key_projection"):
            return self.key_projection(states)
        return states

    def forward(self, query: Tensor, keys: Tensor, states: Tensor, padding: Tensor) -> tuple[Tensor, Tensor]:
        """Args: query (N, T, query_dim); keys from :meth:`project`; states (N, S, key_dim); padding (N, S) bool.

        Returns:
            context (N, T, key_dim) and weights (N, T, S), exactly zero on padding.
        """
        if hasattr(self, "query_projection"):
            summed = self.query_projection(query).unsqueeze(2) + keys.unsqueeze(1)
            scores = torch.tanh(summed) @ self.score
        else:
            scores = query @ keys.transpose(1, 2)
        scores = scores.float().masked_fill(padding.unsqueeze(1), float("-inf"))
        weights = scores.softmax(-1).to(states.dtype)
        return weights @ states, weights
