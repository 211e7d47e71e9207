"""Buckets of lengths under today's numpy."""

from __future__ import annotations

import numpy as np
from fairseq.data import data_utils
from fairseq.data.audio import raw_audio_dataset

from fairseq_xl.training import checkpoints


def test_length_buckets(command, corpus, tmp_path, capsys):
    command(
        "train",
        f"{corpus} --arch transformer_iwslt_de_en --encoder-embed-dim 8 --decoder-embed-dim 8 "
        "--encoder-ffn-embed-dim 8 --decoder-ffn-embed-dim 8 --encoder-layers 1 "
        "--decoder-layers 1 --encoder-attention-heads 1 --decoder-attention-heads 1 "
        "--optimizer adam --lr 0.01 --max-tokens 200 --max-update 2 --num-workers 0 "
        f"--num-batch-buckets 2 --save-dir {tmp_path}",
    )
    assert checkpoints.updates(checkpoints.read(tmp_path / "checkpoint_last.pt")) == 2


def test_bucket_bounds_are_lower_percentiles():
    assert raw_audio_dataset.get_buckets is data_utils.get_buckets
    assert data_utils.get_buckets(np.array([1, 2, 3, 4, 10]), 2).tolist() == [3, 10]
