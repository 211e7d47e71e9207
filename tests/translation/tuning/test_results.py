"""Results are kept in a file."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.translation.tuning.outcomes import Outcome
from fairseq_xl.translation.tuning.points import Point
from fairseq_xl.translation.tuning.results import Results

START = Point("cosine", 20.0, 1.0, 0.0, 5)


def test_results_are_kept_and_an_interrupted_search_goes_on(tmp_path):
    path, about = tmp_path / "r.jsonl", {"checkpoint": "c", "data": "d"}
    found = {"1": Outcome(30.5, 1.25)}
    assert Results(path, about).get(START, lambda _: found) == found
    with path.open("a") as stream:
        stream.write('{"point": "half a li')
    results = Results(path, about)
    assert results.get(START, lambda _: pytest.fail("decoded again")) == found
    other = replace(START, scale=5.0)
    results.get(other, lambda _: found)
    assert Results(path, about).found.keys() == {START.key, other.key}
    for begun in ('{"checkpoint": "c", "da', ""):
        path.write_text(begun)
        Results(path, about)
        assert json.loads(path.read_text()) == about
    with pytest.raises(InputError, match=r"results of another data: give another --results"):
        Results(path, {"checkpoint": "c", "data": "e"})
    there, here = os.pipe()
    os.close(here)
    with pytest.raises(InputError, match="is a pipe, and would have to be read twice: give a file"):
        Results(Path(f"/dev/fd/{there}"), about)
    os.close(there)
    for text in ("[]\n[]\n", "text\n"):
        path.write_text(text)
        with pytest.raises(InputError, match="give another --results"):
            Results(path, about)
