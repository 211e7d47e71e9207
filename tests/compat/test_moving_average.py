from __future__ import annotations

import torch
from fairseq.dataclass.configs import EMAConfig
from fairseq.models.ema import EMA
from torch import nn

from fairseq_xl.compat.moving_average import average_weights_alone
from fairseq_xl.losses.table import FrozenTable


class Frozen(FrozenTable):
    frozen = True


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(3, 5)
        self.register_buffer("count", torch.tensor(2**62 + 1))
        self.register_buffer("running", torch.zeros(2))
        self.targets = Frozen(nn.functional.normalize(torch.randn(7, 5)))


def test_weights_are_averaged_and_nothing_that_is_whole_or_frozen():
    average_weights_alone()
    torch.manual_seed(1)
    model = Model()
    average = EMA(model, EMAConfig(ema_decay=0.9))
    before = model.out.weight.detach().clone()
    with torch.no_grad():
        model.out.weight += 1
        model.running += 1
    for _ in range(3):
        average.step(model)
    made = average.get_model()
    torch.testing.assert_close(made.out.weight, before + 1 - 0.9**3)
    torch.testing.assert_close(made.running, torch.full((2,), 1 - 0.9**3))
    assert made.count == 2**62 + 1
    assert torch.equal(made.targets.table, model.targets.table), "to the bit"
    assert torch.equal(made.targets.banned, model.targets.banned)
