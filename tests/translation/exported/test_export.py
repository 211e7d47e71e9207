"""Exports translate as the models do."""

from __future__ import annotations

import numpy as np
import pytest

from fairseq_xl import Translator


@pytest.mark.parametrize("name", ["vectors", "words"])
@pytest.mark.parametrize("beam", [1, 5])
def test_an_export_translates_as_its_model(folders, exported, raw, name, beam):
    model, export = (Translator.load(folder / name, "cpu", beam=beam) for folder in (folders, exported))
    expected, found = model.candidates(["", *raw]), export.candidates(["", *raw])
    assert len({best[0].text for best in expected}) > 5
    same = [(a, b) for (a,), (b,) in zip(expected, found, strict=True) if a.tokens == b.tokens]
    assert len(same) == len(raw) + 1 if beam == 1 else len(same) > len(raw) * 0.8
    for one, other in same:
        assert (one.text, one.source, one.alignment) == (other.text, other.source, other.alignment)
        # the end of the sentence is out of the question at first, and leaves its share to the words
        assert one.score == pytest.approx(other.score, abs=2e-3)
