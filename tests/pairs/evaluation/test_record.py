"""Records: written, read, checked and put side by side."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.evaluation.record import PairRecord, aligned, together

RECORD = PairRecord("esim", "valid", 1, ["a", "b", "c"], [0, 1, 0], [0.1, 0.9, 0.2], [0, 0, 1], {"seconds": 2})


def test_a_record_is_read_as_it_was_written(tmp_path):
    RECORD.write(tmp_path / "r.json")
    assert PairRecord.read(tmp_path / "r.json") == RECORD


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"ids": ["a", "b"]}, "differ in length"),
        ({"ids": ["a", "b", "a"]}, "an id stands there twice"),
        ({"gold": [0, 1, 2]}, "neither 0 nor 1"),
        ({"gold": [0, 1]}, "differ in length"),
        ({"probability": [0.1, 0.2, 1.5]}, "not a number from 0 to 1"),
        ({"probability": [0.1, 0.2, float("nan")]}, "not a number from 0 to 1"),
        ({"probability": ["x", 0.2, 0.3]}, "is no record of pairs"),
        ({"ids": [], "gold": [], "probability": [], "group": []}, "no pair"),
        ({"name": ["esim"]}, "a name or an id is no text"),
        ({"split": None}, "a name or an id is no text"),
        ({"ids": [1, 2, 3]}, "a name or an id is no text"),
        ({"seed": "1"}, "its seed or a group is no whole number"),
        ({"group": [0, [], 1]}, "its seed or a group is no whole number"),
        ({"group": [0, 10**30, 1]}, "its seed or a group is no whole number"),
        ({"about": [1]}, "what it is about is no table"),
        ({"colour": 1}, "is no record of pairs"),
    ],
)
def test_what_is_wrong_with_a_record_is_said(tmp_path, change, said):
    (tmp_path / "r.json").write_text(json.dumps({**asdict(RECORD), **change}))
    with pytest.raises(InputError, match=said):
        PairRecord.read(tmp_path / "r.json")


def test_a_missing_file(tmp_path):
    with pytest.raises(InputError, match="there is no record"):
        PairRecord.read(tmp_path / "r.json")


def test_records_are_brought_into_one_order():
    other = replace(RECORD, seed=2, ids=["c", "a", "b"], probability=[0.3, 0.1, 0.2], gold=[0, 0, 1], group=[1, 0, 0])
    np.testing.assert_array_equal(aligned([RECORD, other]), [[0.1, 0.9, 0.2], [0.1, 0.2, 0.3]])
    third = replace(RECORD, name="bm25", gold=None, probability=[0.5, 0.6, 0.7])
    found = together([third, RECORD, other])
    assert list(found.runs) == ["bm25", "esim"]
    np.testing.assert_array_equal(found.runs["esim"], [[0.1, 0.9, 0.2], [0.1, 0.2, 0.3]])
    np.testing.assert_array_equal(found.labels, [0, 1, 0])
    np.testing.assert_array_equal(found.group, [0, 0, 1])
    assert found.records["esim"] == [RECORD, other]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seed": 2, "ids": ["a", "b", "d"]}, "are of different pairs"),
        ({"seed": 2, "gold": [0, 0, 0]}, "different labels"),
        ({}, "two records are of esim with seed 1"),
    ],
)
def test_records_that_do_not_belong_together(change, said):
    with pytest.raises(InputError, match=said):
        together([RECORD, replace(RECORD, **change)])


def test_labels_that_nobody_knows():
    found = together([replace(RECORD, gold=None)])
    assert found.gold is None
    with pytest.raises(InputError, match="have no labels"):
        _ = found.labels
