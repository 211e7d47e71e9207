"""Convolutions with the largest value of each filter, against loops."""

from __future__ import annotations

import pytest
import torch

from fairseq_xl.modules.convolution import MaxConvolution


@pytest.mark.parametrize("width", [1, 2, 3])
def test_equals_a_loop_over_windows(width):
    torch.manual_seed(1)
    layer = MaxConvolution(5, 4, width).double()
    sentences = [torch.randn(length, 5, dtype=torch.float64) for length in (1, 2, 6)]
    words = torch.randn(3, 6, 5, dtype=torch.float64)  # anything at padding
    padding = torch.ones(3, 6, dtype=torch.bool)
    for row, sentence in enumerate(sentences):
        words[row, : len(sentence)] = sentence
        padding[row, : len(sentence)] = False
    weight, bias = layer.convolution.weight, layer.convolution.bias
    for row, sentence in enumerate(sentences):
        spread = torch.cat([sentence, torch.zeros(width - 1, 5, dtype=torch.float64)])
        windows = [torch.einsum("fcw,wc->f", weight, spread[t : t + width]) + bias for t in range(len(sentence))]
        expected = torch.relu(torch.stack(windows)).amax(0)
        torch.testing.assert_close(layer(words, padding)[row], expected)
