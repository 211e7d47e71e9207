"""Every baseline by name: it learns, and the same seed gives the same classes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from fairseq_xl.siamese.baselines import BASELINES, fit

pytest.importorskip("sklearn")
pytest.importorskip("gensim")
pytest.importorskip("fasttext")

RECIPES = Path(__file__).parents[3] / "recipes" / "lib" / "classification.sh"
# Vectors of two thousand sentences say little; of the others everything is asked.
LEAST = {"asv": 0.6, "dsc-t": 0.6, "mnb-h": 0.95, "bilstm-w": 0.8, "bilstm-c": 0.8, "svm": 0.95, "fasttext": 0.9}


def test_recipes_offer_every_baseline():
    listed = re.search(r'^BASELINES="(.*)"$', RECIPES.read_text(encoding="utf-8"), re.MULTILINE)
    assert listed
    assert set(listed[1].split()) == set(BASELINES)


@pytest.mark.parametrize("name", sorted(LEAST))
def test_it_learns_and_repeats(data, name):
    training, texts, labels = data
    classify = fit(name, training)
    found = classify(texts)
    assert (found == labels).mean() >= LEAST[name]
    assert classify(["ζζζ"])[0] in (0, 1)  # of unseen words
    np.testing.assert_array_equal(found, fit(name, training)(texts))
