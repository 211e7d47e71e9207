"""Table 2's numbers against a loop over positions in float64."""

import math

import pytest
import torch

from fairseq_xl.continuous.diagnostics.accuracy import ErrorMargins, Geometry, look_up

from .conftest import target_table

WORDS, DIM = 40, 6


def predictions(count=300, seed=1, noise=0.45):
    """Raw predictions around their targets, near enough for about half to be right."""
    targets = target_table(WORDS, dim=DIM)
    generator = torch.Generator().manual_seed(seed)
    index = torch.randint(2, WORDS, (count,), generator=generator)
    pred = targets.table[index] + noise * torch.randn(count, DIM, generator=generator)
    return pred * torch.rand(count, 1, generator=generator).exp(), index, targets


def in_parts(accumulator, pred, index, targets, k=10):
    for rows in torch.arange(len(pred)).tensor_split(7):
        accumulator.update(look_up(pred[rows], index[rows], targets, k))
    return accumulator.result()


def by_brute_force(pred, index, targets, at=(1, 2, 5, 10)):
    table = targets.table.double()
    sums = {"nearest_when_correct": [], "nearest_when_wrong": [], "target_when_wrong": [], "target": []}
    ranks = []
    for e, i in zip(pred.double(), index.tolist(), strict=True):
        cosines = [(float(e @ u / e.norm()), w) for w, u in enumerate(table) if w >= 2]
        cosines.sort(reverse=True)
        ranks.append([w for _, w in cosines].index(i) + 1)
        to_target = float(e @ table[i] / e.norm())
        sums["target"].append(to_target)
        if ranks[-1] == 1:
            sums["nearest_when_correct"].append(cosines[0][0])
        else:
            sums["nearest_when_wrong"].append(cosines[0][0])
            sums["target_when_wrong"].append(to_target)
    means = {name: sum(found) / len(found) for name, found in sums.items()}
    accuracy = {str(n): 100 * sum(r <= n for r in ranks) / len(ranks) for n in at}
    return {"positions": len(ranks), "correct": ranks.count(1), **means, "accuracy": accuracy}


def test_error_margins_are_those_of_a_loop():
    pred, index, targets = predictions()
    found = in_parts(ErrorMargins(), pred, index, targets)
    expected = by_brute_force(pred, index, targets)
    assert 60 < found["correct"] < 240
    assert found.pop("accuracy") == pytest.approx(expected.pop("accuracy"))
    assert found == pytest.approx(expected, abs=1e-6)


def test_where_all_are_right_nothing_is_said_of_wrong_ones():
    pred, index, targets = predictions(noise=0.0)
    found = in_parts(ErrorMargins(), pred, index, targets)
    assert found["nearest_when_wrong"] is None
    assert found["target_when_wrong"] is None
    assert found["nearest_when_correct"] == pytest.approx(1, abs=1e-6)
    assert set(found["accuracy"].values()) == {100.0}


def test_a_target_that_is_no_word_is_never_found():
    pred, _, targets = predictions(noise=0.0)
    index = torch.zeros(len(pred), dtype=torch.long)
    found = in_parts(ErrorMargins(), targets.table[index] + 1e-3 * pred, index, targets)
    assert set(found["accuracy"].values()) == {0.0}
    assert found["target"] > 0.99


def test_nothing_measured_is_no_number():
    found = ErrorMargins().result()
    assert found["positions"] == 0
    assert {found["target"], *found["accuracy"].values()} == {None}
    assert Geometry().result()["beyond_135_degrees"] is None


def test_more_neighbours_than_words_are_refused():
    pred, index, targets = predictions(3)
    with pytest.raises(ValueError, match="no 39 nearest words among 38"):
        look_up(pred, index, targets, 39)
    with pytest.raises(ValueError, match="accuracy@10"):
        ErrorMargins().update(look_up(pred, index, targets, 9))


def test_geometry_of_a_loop():
    pred, index, targets = predictions()
    pred = pred * torch.where(torch.arange(300) % 3 == 0, -1.0, 1.0).unsqueeze(1)
    pred[7] = 0
    found = in_parts(Geometry(), pred, index, targets)
    angles, norms = [], []
    for e, i in zip(pred.double(), index.tolist(), strict=True):
        norm = float(e.norm())
        norms.append(norm)
        cosine = float(e @ targets.table[i].double()) / norm if norm else 0.0
        angles.append(math.degrees(math.acos(cosine)))
    assert found["beyond_135_degrees"] == sum(a > 135 for a in angles) / 300 > 0
    assert found["cosine"]["mean"] == pytest.approx(sum(math.cos(math.radians(a)) for a in angles) / 300, abs=1e-6)
    assert found["kappa"]["mean"] == pytest.approx(sum(norms) / 300, rel=1e-6)
    assert found["kappa"]["min"] == 0
