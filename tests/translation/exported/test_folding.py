"""The folded layer gives the scores that the vectors give."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from fairseq_xl.io.errors import InputError
from fairseq_xl.losses import FrozenTable, Scoring, log_scores
from fairseq_xl.translation.exported.folding import NEVER, Output, load_folding, save_folding


@pytest.fixture
def output() -> Output:
    rng = np.random.default_rng(0)
    words = rng.standard_normal((9, 5)).astype(np.float32)
    words /= np.linalg.norm(words, axis=1, keepdims=True)
    banned = np.arange(9) == 1
    weight, bias, added = (rng.standard_normal(shape).astype(np.float32) for shape in ((5, 7), (5,), (9,)))
    return Output(words, banned, weight, bias, 4 / 1.5, added)


def test_the_folded_layer_is_the_posterior(output):
    states = torch.randn(6, 7, generator=torch.Generator().manual_seed(1))
    weight, bias = map(torch.from_numpy, output.folded())
    assert bias[1] == NEVER
    found = torch.nn.functional.linear(states, weight, bias).log_softmax(-1)
    pred = 4 * torch.nn.functional.linear(states, *map(torch.from_numpy, (output.weight, output.bias)))
    table = FrozenTable(torch.from_numpy(output.words), torch.from_numpy(output.banned))
    scoring = Scoring("vmf_posterior", temperature=1.5, bonus=torch.from_numpy(output.added))
    expected = log_scores(pred, table, scoring)
    kept = ~table.banned
    assert torch.allclose(found[:, kept], expected[:, kept], atol=1e-5)
    assert (found[:, 1] < -1e8).all()
    # the cosine has the same best word where nothing is added
    plain = Output(output.words, output.banned, output.weight, output.bias, 4.0, 0 * output.added)
    weight, bias = map(torch.from_numpy, plain.folded())
    cosine = log_scores(pred, table, Scoring("cosine"))
    assert torch.equal(torch.nn.functional.linear(states, weight, bias).argmax(-1), cosine.argmax(-1))


def test_what_was_saved_is_read_again(output, tmp_path):
    inputs, body = np.ones((7, 5), np.float32), {"encoder/layer_0/x": np.arange(3, dtype=np.float32)}
    save_folding(tmp_path / "folding.npz", output, inputs, body)
    again, found, rest = load_folding(tmp_path / "folding.npz")
    for name in ("words", "banned", "weight", "bias"):
        assert np.array_equal(getattr(again, name), getattr(output, name))
    assert again.scale == pytest.approx(output.scale)
    assert not again.added.any()
    assert np.array_equal(found, inputs)
    assert rest.keys() == body.keys()


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04half"])
def test_another_file_is_refused(tmp_path, content):
    (tmp_path / "folding.npz").write_bytes(content)
    with pytest.raises(InputError, match="is damaged"):
        load_folding(tmp_path / "folding.npz")
