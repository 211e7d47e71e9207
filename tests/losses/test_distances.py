"""The distances against torch's own."""

import torch
import torch.nn.functional as F

from fairseq_xl.losses import cosine, l2


def test_distances_are_torchs():
    generator = torch.Generator().manual_seed(0)
    pred = torch.randn(12, 6, generator=generator, dtype=torch.float64)
    target = F.normalize(torch.randn(12, 6, generator=generator, dtype=torch.float64), dim=-1)
    assert torch.allclose(cosine(pred, target), 1 - F.cosine_similarity(pred, target, dim=-1))
    assert torch.allclose(l2(pred, target), F.mse_loss(pred, target, reduction="none").sum(-1))
