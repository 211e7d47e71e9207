"""The decoder's recurrence over a whole target sequence: fused where it can be, step by step where it must."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fairseq_xl.modules.attention import Attention

State = tuple[Tensor, Tensor, Tensor]
"""Between steps: hidden states (N, layers, H), cells (N, layers, H) and the last attention vector (N, H)"""


class FusedRecurrence(nn.Module):
    """No input feeding: one LSTM call over the sequence, then attention for all steps at once."""

    def __init__(
        self, input_dim: int, hidden_dim: int, layers: int, dropout: float, attention: Attention, combine: nn.Linear
    ):
        super().__init__()
        self.lstm = nn.LSTM(input_dim, hidden_dim, layers, dropout=dropout if layers > 1 else 0.0)
        self.attention = attention
        self.combine = combine

    def forward(self, x: Tensor, state: State, source: Tensor, padding: Tensor) -> tuple[Tensor, Tensor, State]:
        """Args: x (N, T, E); state; source (N, S, C); padding (N, S).

        Returns:
            attention vectors (N, T, H), attention weights (N, T, S), and the state after the last step.
        """
        hidden, cell, feed = state
        start = (hidden.transpose(0, 1).contiguous(), cell.transpose(0, 1).contiguous())
        hidden, (last_hidden, last_cell) = self.lstm(x.transpose(0, 1).contiguous(), start)
        hidden = hidden.transpose(0, 1)
        context, weights = self.attention(hidden, self.attention.project(source), source, padding)
        vectors = torch.tanh(self.combine(torch.cat([context, hidden], -1)))
        return vectors, weights, (last_hidden.transpose(0, 1), last_cell.transpose(0, 1), feed)


class FedRecurrence(nn.Module):
    """Input feeding (Luong et al. 2015, section 3.3): each step's first layer also reads the last attention vector.

    Two parts do not depend on the previous step and stay out of the loop. They are the inputs' share of the first
    layer's gates and the source's share of the attention.
    """

    def __init__(
        self, input_dim: int, hidden_dim: int, layers: int, dropout: float, attention: Attention, combine: nn.Linear
    ):
        super().__init__()
        self.input_gates = nn.Linear(input_dim, 4 * hidden_dim)
        self.first_gates = nn.Linear(2 * hidden_dim, 4 * hidden_dim, bias=False)
        self.upper_gates = nn.ModuleList(nn.Linear(2 * hidden_dim, 4 * hidden_dim) for _ in range(layers - 1))
        self.dropout = dropout
        self.attention = attention
        self.combine = combine

    def forward(self, x: Tensor, state: State, source: Tensor, padding: Tensor) -> tuple[Tensor, Tensor, State]:
        """As :class:`FusedRecurrence`."""
        hidden, cell, feed = list(state[0].unbind(1)), list(state[1].unbind(1)), state[2]
        keys = self.attention.project(source)
        vectors: list[Tensor] = []
        weights: list[Tensor] = []
        for from_input in self.input_gates(x).unbind(1):
            gates = from_input + self.first_gates(torch.cat([feed, hidden[0]], -1))
            hidden[0], cell[0] = _lstm_step(gates, cell[0])
            for layer, linear in enumerate(self.upper_gates, start=1):
                below = F.dropout(hidden[layer - 1], self.dropout, self.training)
                gates = linear(torch.cat([below, hidden[layer]], -1))
                hidden[layer], cell[layer] = _lstm_step(gates, cell[layer])
            top = hidden[-1].unsqueeze(1)
            context, weight = self.attention(top, keys, source, padding)
            feed = torch.tanh(self.combine(torch.cat([context, top], -1))).squeeze(1)
            vectors.append(feed)
            weights.append(weight)
        after = (torch.stack(hidden, 1), torch.stack(cell, 1), feed)
        return torch.stack(vectors, 1), torch.cat(weights, 1), after


def _lstm_step(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """One LSTM step from summed gates (N, 4H) in torch's order: input, forget, cell, output."""
    let_in, forget, new, let_out = gates.chunk(4, -1)
    cell = torch.sigmoid(forget) * cell + torch.sigmoid(let_in) * torch.tanh(new)
    return torch.sigmoid(let_out) * torch.tanh(cell), cell
