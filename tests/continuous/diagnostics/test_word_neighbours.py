"""Neighbour lists of chosen words, in a plane laid out by hand and against a loop."""

import pytest
import torch
import torch.nn.functional as F

from fairseq_xl.continuous.diagnostics.accuracy import look_up
from fairseq_xl.continuous.diagnostics.word_neighbours import SharedNeighbours, WordNeighbours
from fairseq_xl.continuous.models.targets import TargetTable
from fairseq_xl.losses import nearest, negatives

# Directions in degrees: predictions of `means` that lean to `meant` have a negative beside `held`.
PLANE = {"means": 0, "meant": 25, "held": 80, "holds": 120, "other": -100}
SYMBOLS = ["<pad>", *PLANE]


def plane():
    angles = torch.tensor([0, *PLANE.values()]).deg2rad()
    table = torch.stack([angles.cos(), angles.sin()], 1)
    table[0] = 0
    banned = torch.zeros(len(SYMBOLS), dtype=torch.bool)
    banned[0] = True
    return TargetTable(table, banned, SYMBOLS)


def at(*degrees):
    angles = torch.tensor(degrees, dtype=torch.float).deg2rad()
    return torch.stack([angles.cos(), angles.sin()], 1)


def test_lists_as_in_the_paper():
    targets = plane()
    found = WordNeighbours([1], targets)
    # Two right and two wrong predictions of `means`, of different lengths; one of another word.
    pred = at(4, 20, -8, 30, 90) * torch.tensor([1.0, 9, 1, 2, 5]).unsqueeze(1)
    index = torch.tensor([1, 1, 1, 1, 3])
    for rows in (slice(0, 2), slice(2, 5)):
        found.update(look_up(pred[rows], index[rows], targets, 3))
    (word,) = found.result(targets, SYMBOLS, 2)
    assert (word["word"], word["positions"], word["wrong"]) == ("means", 4, 2)
    assert word["predicted"] == [["means", 2], ["meant", 2]]
    wrong = word["mean_when_wrong"]
    assert wrong["prediction"][0] == ["meant", pytest.approx(1)]  # of 20 and 30 degrees: 25
    assert wrong["projection"][0] == ["held", pytest.approx(0.984807753)]  # at 90 degrees
    assert wrong["difference"][0] == ["holds", pytest.approx(0.953716951)]  # at 90 + 25/2 degrees
    assert [name for name, _ in word["mean"]["prediction"]] == ["means", "meant"]


def test_a_word_that_is_never_a_target_and_one_that_is_never_wrong():
    targets = plane()
    found = WordNeighbours([4, 3], targets)
    found.update(look_up(at(80), torch.tensor([3]), targets, 3))
    never, right = found.result(targets, SYMBOLS, 2)
    assert never["positions"] == 0
    assert never["predicted"] == []
    assert never["mean"] is None
    assert right["mean_when_wrong"] is None
    assert right["mean"]["prediction"][0][0] == "held"
    assert right["mean"]["projection"] == []  # along its target: no such direction


@pytest.mark.parametrize("name", ["projection", "difference"])
def test_shared_neighbours_are_those_of_a_loop(name):
    generator = torch.Generator().manual_seed(0)
    table = F.normalize(torch.randn(30, 3, generator=generator), dim=-1)
    banned = torch.zeros(30, dtype=torch.bool)
    banned[0] = True
    targets = TargetTable(table, banned, [str(i) for i in range(30)])
    index = torch.randint(1, 30, (200,), generator=generator)
    pred = table[index] + 0.8 * torch.randn(200, 3, generator=generator)
    # A target that is no word, with the vector of one: wrong, and without a negative, whatever is near to that.
    table[0] = table[nearest(torch.zeros(1, 3), targets)[1].item()]
    index[0], pred[0] = 0, table[0]
    found = SharedNeighbours()
    for rows in torch.arange(200).split(70):
        found.update(look_up(pred[rows], index[rows], targets, 1), targets)
    wrong = shared = 0
    for e, i in zip(pred, index.tolist(), strict=True):
        negative = getattr(negatives, name)(e.unsqueeze(0), table[i : i + 1])[0]
        word = 1 + int((table[1:] @ e).argmax())
        if word != i:
            wrong += 1
            shared += i > 0 and word == 1 + int((table[1:] @ negative).argmax())
    assert 0 < shared < wrong < 200
    assert found.result()[name] == shared / wrong


def test_without_wrong_predictions_nothing_is_shared():
    targets = plane()
    found = SharedNeighbours()
    found.update(look_up(at(80), torch.tensor([3]), targets, 1), targets)
    assert found.result() == {"projection": None, "difference": None}
