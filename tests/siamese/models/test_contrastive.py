"""The loss against the paper's equation."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.siamese.models.contrastive import all_pairs, contrastive, unit

torch.manual_seed(0)
COSINES = st.floats(-1, 1, allow_subnormal=False)


@given(COSINES, st.booleans(), st.floats(0, 1))
def test_equation_2(cosine, same, margin):
    found = float(contrastive(torch.tensor(cosine, dtype=torch.float64), torch.tensor(same), margin))
    assert found == pytest.approx(1 - cosine if same else max(0.0, cosine - margin), abs=1e-15)


def test_gradient():
    vectors = torch.randn(6, 5, dtype=torch.float64, requires_grad=True)
    same = torch.tensor([True, False, True])

    def loss(x):
        z = x / x.norm(dim=1, keepdim=True)
        return contrastive((z[:3] * z[3:]).sum(1), same, -0.9)

    assert torch.autograd.gradcheck(loss, vectors)


def test_a_zero_vector_has_cosine_zero_and_a_finite_gradient():
    zero = torch.zeros(1, 4, requires_grad=True)
    cosine = (unit(zero) * unit(torch.ones(1, 4))).sum()
    assert cosine.item() == 0
    contrastive(cosine, torch.tensor(True), 0.5).backward()
    assert torch.isfinite(zero.grad).all()


def test_all_pairs_is_the_mean_over_both_kinds():
    vectors = unit(torch.randn(5, 3, dtype=torch.float64)).double()
    labels = torch.tensor([0, 0, 1, 2, 1])
    cosine = (vectors @ vectors.t()).tolist()
    same, other = [], []
    for i in range(5):
        for j in range(5):
            if i != j and labels[i] == labels[j]:
                same.append(1 - cosine[i][j])
            elif i != j:
                other.append(max(0.0, cosine[i][j] - 0.2))
    wanted = (math.fsum(same) / len(same) + math.fsum(other) / len(other)) / 2
    assert float(all_pairs(vectors, labels, 0.2)) == pytest.approx(wanted, abs=1e-12)
    assert float(all_pairs(vectors[:1], labels[:1], 0.2)) == 0
