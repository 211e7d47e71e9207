"""fairseq-hydra-train trains the encoder of syntax as fairseq-train does."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("options", [["model._name=upos_lstm"], ["model._name=upos_lstm_tiny", "task.target=pieces"]])
def test_the_encoder(options, upos_run, train_both_ways, assert_same_training, tmp_path):
    both = train_both_ways(
        "syntactic",
        tmp_path,
        f"task.data={upos_run[0]}",
        *options,
        "optimization.max_update=3",
        "+task.sentences_per_pair=64",
        "checkpoint.save_interval_updates=0",
    )
    assert_same_training(*both)
