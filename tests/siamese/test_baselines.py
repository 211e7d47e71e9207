"""Every baseline by name: it learns, and the same seed gives the same classes."""

from __future__ import annotations

import numpy as np
import pytest

from fairseq_xl.errors import InputError
from fairseq_xl.siamese import baseline_command
from fairseq_xl.siamese.baselines import BASELINES, Training
from tests.siamese.conftest import sentences


@pytest.fixture(scope="module")
def data():
    rows = sentences("en", 240, 3)
    labels = np.array([int(label == "pos") for label, _ in rows])
    texts = [text for _, text in rows]
    more = [text for _, text in sentences("en", 1500, 4)]
    training = Training(texts[:160], labels[:160], texts[160:200], labels[160:200], 2, 1, more)
    return training, texts[200:], labels[200:]


# Vectors of two thousand sentences say little; of the others everything is asked.
LEAST = {"asv": 0.6, "dsc-t": 0.6, "mnb-h": 0.95, "bilstm-w": 0.95, "bilstm-c": 0.95, "svm": 0.95, "fasttext": 0.9}


@pytest.mark.parametrize("name", sorted(LEAST))
def test_it_learns_and_repeats(data, name):
    training, texts, labels = data
    classify = BASELINES[name][0](training)
    found = classify(texts)
    assert (found == labels).mean() >= LEAST[name]
    assert classify(["ζζζ"])[0] in (0, 1)  # of unseen words
    np.testing.assert_array_equal(found, BASELINES[name][0](training)(texts))


def test_what_a_baseline_needs_is_said(data):
    with pytest.raises(InputError, match="name it with --model"):
        BASELINES["st"][0](data[0])


def test_the_commands_names_are_the_baselines():
    assert set(baseline_command.NAMES) == set(BASELINES)
