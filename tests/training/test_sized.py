"""Samples with a length: its order, and the length of each."""

from __future__ import annotations

import numpy as np

from fairseq_xl.training.sized import SizedDataset


def test_samples_are_ordered_by_length_and_equal_ones_stay_as_they_are() -> None:
    data = SizedDataset()
    data.sizes = np.array([5, 2, 5, 1, 2])
    assert data.ordered_indices().tolist() == [3, 1, 4, 0, 2]
    assert data.num_tokens_vec(data.ordered_indices()).tolist() == [1, 2, 2, 5, 5]
    assert (data.num_tokens(2), data.size(3)) == (5, 1)
