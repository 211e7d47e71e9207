"""The frozen table: unit rows by construction, none for the optimiser, kept as precise as they came."""

import math

import pytest
import torch
import torch.nn.functional as F

from fairseq_xl.losses import FrozenTable
from fairseq_xl.losses.table import unit_targets


def vectors():
    return F.normalize(torch.randn(6, 4, generator=torch.Generator().manual_seed(0)), dim=-1)


def test_candidates_are_what_is_not_banned():
    banned = torch.tensor([True, False, False, True, False, False])
    targets = FrozenTable(vectors(), banned)
    assert targets.candidates().tolist() == [1, 2, 4, 5]
    assert targets.banned_rows().tolist() == [0, 3]
    assert targets.dim == 4
    assert torch.equal(targets(torch.tensor([[2, 0]])), vectors()[[2, 0]].unsqueeze(0))


def test_rows_are_of_unit_length_but_banned_ones_may_be_zero():
    rows = vectors()
    rows[2] = 0
    with pytest.raises(ValueError, match="1 targets are not of unit length, the first has 0: normalize them"):
        FrozenTable(rows)
    with pytest.raises(ValueError, match="the first has 0: none has a direction"):
        FrozenTable(rows, target_norm="normalize")
    banned = torch.arange(6) == 2
    assert torch.equal(FrozenTable(rows, banned).table, rows)
    assert torch.allclose(FrozenTable(3 * rows, banned, target_norm="normalize").table, rows)


@pytest.mark.parametrize("wrong", [vectors().numpy(), vectors()[0], vectors().tolist()], ids=["numpy", "row", "list"])
def test_what_is_no_table_is_refused(wrong):
    with pytest.raises(ValueError, match=r"a table is a tensor of shape \(words, dimensions\), not "):
        FrozenTable(wrong)


@pytest.mark.parametrize("wrong", [torch.tensor([0]), torch.zeros(5).bool(), torch.zeros(6).long(), [0]], ids=str)
def test_banned_are_not_numbers_of_rows(wrong):
    """They were registered as they are where lengths are trusted, and the words were others then."""
    with pytest.raises(ValueError, match=r"banned says of each of the 6 rows .* bool of shape \(6,\), not "):
        FrozenTable(vectors(), wrong, target_norm="trust")


@pytest.mark.parametrize("wrong", [1.002, 0.0, -2.0, math.inf, math.nan])
def test_every_other_length_is_refused(wrong):
    rows = vectors()
    rows[3] *= wrong
    with pytest.raises(ValueError, match="1 targets are not of unit length"):
        unit_targets(rows)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_rounded_unit_vectors_are_of_unit_length(dtype):
    rows = F.normalize(torch.randn(500, 3, generator=torch.Generator().manual_seed(0)), dim=-1).to(dtype)
    assert unit_targets(rows) is rows
    assert unit_targets(rows, "normalize").dtype == dtype
    assert FrozenTable(rows).table.dtype == torch.promote_types(dtype, torch.float32)


def test_trusted_targets_are_not_read():
    rows = torch.full((2, 3), math.nan)
    assert unit_targets(rows, "trust") is rows
    with pytest.raises(ValueError, match="check, normalize, trust, not 'unit'"):
        unit_targets(rows, "unit")


def test_nothing_for_the_optimiser_and_nothing_is_halved():
    targets = FrozenTable(vectors())
    before = targets.table.clone()
    assert list(targets.parameters()) == []
    assert set(targets.state_dict()) == {"table", "banned"}
    assert torch.equal(targets.half().table, before)
    assert targets.double().table.dtype == torch.float32


def test_a_table_that_is_loaded_has_other_words():
    full, fewer = FrozenTable(vectors()), FrozenTable(vectors(), torch.arange(6) < 3)
    assert len(full.candidates()) == 6
    before = full.mean()
    full.load_state_dict(fewer.state_dict())
    assert full.candidates().tolist() == [3, 4, 5]
    assert full.banned_rows().tolist() == [0, 1, 2]
    assert not torch.equal(full.mean(), before)
