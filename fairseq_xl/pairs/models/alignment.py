"""Soft alignment: each word of one sentence sees the words of the other that are like it."""

from __future__ import annotations

import torch
from torch import Tensor


def soft_align(
    scores: Tensor, left: Tensor, right: Tensor, left_padding: Tensor, right_padding: Tensor
) -> tuple[Tensor, Tensor]:
    """For each word of one sentence, the mean of the other's words, weighted by the softmax of their scores.

    Parikh et al. 2016, equation 2; Chen et al. 2017, equations 12 and 13.

    Args:
        scores: (N, T, U) of words of left with words of right.
        left, right: (N, T, C) and (N, U, D), what is averaged.
        left_padding, right_padding: (N, T) and (N, U), true where there is no word; each row has a word.

    Returns:
        (N, T, D), right as each word of left sees it, and (N, U, C), left as each word of right sees it.
    """
    scores = scores.float()
    over_right = scores.masked_fill(right_padding.unsqueeze(1), -torch.inf).softmax(2).to(right.dtype)
    over_left = scores.masked_fill(left_padding.unsqueeze(2), -torch.inf).softmax(1).to(left.dtype)
    return over_right @ right, over_left.transpose(1, 2) @ left
