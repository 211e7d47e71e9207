"""The multi-layer perceptron that decides."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

ACTIVATIONS = {"relu": nn.ReLU, "sigmoid": nn.Sigmoid, "tanh": nn.Tanh}


class BatchNorm(nn.BatchNorm1d):
    """Batch normalisation that also trains on a batch of one pair, which has no variance: by running statistics."""

    def forward(self, x: Tensor) -> Tensor:
        if self.training and len(x) == 1:
            return F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, False, 0.0, self.eps)
        return super().forward(x)


def perceptron(
    input_dim: int, hidden_dim: int, layers: int, dropout: float, normalise: bool, activation: str = "relu"
) -> nn.Sequential:
    """Hidden layers, batch normalisation where wanted, and dropout; then one logit: (N, in) to (N, 1).

    Raises:
        ValueError: an unknown activation.
    """
    if activation not in ACTIVATIONS:
        raise ValueError(f"an activation is {', '.join(ACTIVATIONS)}, not {activation!r}")
    found: list[nn.Module] = []
    for layer in range(layers):
        found += [nn.Linear(hidden_dim if layer else input_dim, hidden_dim), ACTIVATIONS[activation]()]
        if normalise:
            found.append(BatchNorm(hidden_dim))
        found.append(nn.Dropout(dropout))
    return nn.Sequential(*found, nn.Linear(hidden_dim if layers else input_dim, 1))
