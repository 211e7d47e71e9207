"""The fused recurrence and the one step by step are one."""

import torch

from fairseq_xl.continuous.models.recurrence import FedRecurrence, FusedRecurrence
from fairseq_xl.modules.attention import Attention


def test_fed_recurrence_without_feeding_is_the_fused_one():
    torch.manual_seed(0)
    parts = Attention("general", 6, 5), torch.nn.Linear(11, 6, bias=False)
    fused = FusedRecurrence(4, 6, 2, 0.0, *parts)
    fed = FedRecurrence(4, 6, 2, 0.0, *parts)
    lstm = fused.lstm
    with torch.no_grad():
        fed.input_gates.weight.copy_(lstm.weight_ih_l0)
        fed.input_gates.bias.copy_(lstm.bias_ih_l0 + lstm.bias_hh_l0)
        fed.first_gates.weight.copy_(torch.cat([torch.zeros(24, 6), lstm.weight_hh_l0], 1))
        fed.upper_gates[0].weight.copy_(torch.cat([lstm.weight_ih_l1, lstm.weight_hh_l1], 1))
        fed.upper_gates[0].bias.copy_(lstm.bias_ih_l1 + lstm.bias_hh_l1)
    state = (torch.randn(3, 2, 6), torch.randn(3, 2, 6), torch.zeros(3, 6))
    inputs = (torch.randn(3, 5, 4), state, torch.randn(3, 7, 5), torch.zeros(3, 7).bool())
    for ours, theirs in zip(fused(*inputs)[:2], fed(*inputs)[:2], strict=True):
        assert torch.allclose(ours, theirs, atol=1e-6)
