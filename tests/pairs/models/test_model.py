"""A pair classifier of one's own: a file with a module, and a line that registers it."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from fairseq_xl.pairs.data.directory import DataDirectory
from fairseq_xl.pairs.prediction.predictor import PairPredictor

# As CONTRIBUTING.md shows it.
OWN = '''
from dataclasses import dataclass, field

from torch import nn

from fairseq_xl.pairs.models.model import PairClassifierConfig, register_classifier


@dataclass
class BilinearConfig(PairClassifierConfig):
    scale: float = field(default=1.0, metadata={"help": "of the logits"})


@register_classifier("bilinear", BilinearConfig)
class Bilinear(nn.Module):
    """A bilinear form of the sums of both sentences' words."""

    def __init__(self, input_dim: int, scale: float = 1.0):
        super().__init__()
        self.form, self.scale = nn.Bilinear(input_dim, input_dim, 1), scale

    def encode(self, words, padding):
        return words.masked_fill(padding.unsqueeze(-1), 0).sum(1)

    def forward(self, left, right, left_padding, right_padding):
        return self.scale * self.form(self.encode(left, left_padding), self.encode(right, right_padding)).squeeze(1)
'''


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """The module of a file outside the package, imported once, since fairseq knows a name once."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "own_classifier.py").write_text(OWN, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield importlib.import_module("own_classifier")


def test_it_trains_judges_and_encodes(own, prepared, train_classifier, tmp_path):
    train_classifier(prepared, tmp_path, "--arch bilinear --scale 0.5 --max-update 1")
    predictor = PairPredictor.load(tmp_path / "checkpoint_last.pt", device="cpu")
    assert isinstance(predictor.model.classifier, own.Bilinear)
    assert predictor.model.classifier.scale == 0.5
    rows = DataDirectory(prepared).rows("valid")
    assert np.isfinite(predictor.logits(rows)).all()
    assert predictor.vectors(rows)[0].shape == (60, 8)
