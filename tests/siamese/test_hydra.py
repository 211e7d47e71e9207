"""fairseq-hydra-train trains the Siamese encoder as fairseq-train does."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("arch", ["ssc_bilstm", "ssc_bilstm_tiny"])
def test_the_siamese_encoder(arch, data_directory, train_both_ways, assert_same_training, tmp_path):
    both = train_both_ways(
        "siamese",
        tmp_path,
        f"task.data={data_directory}",
        f"model._name={arch}",
        "model.embed_dim=8",
        "model.hidden_dim=8",
        "optimization.max_update=4",
        "+task.references=10",
    )
    assert_same_training(*both)
