"""A dictionary induced from the pages themselves."""

from __future__ import annotations

import pytest

from fairseq_xl.corpus.alignment.dictionary import induce
from fairseq_xl.io.errors import InputError

from .conftest import DOCUMENTS, NOUNS, VERBS


def test_induced_dictionary():
    found, pairs = induce(DOCUMENTS, 0.1, 2)
    assert {word: other for word, (other, _) in found.items()} == {"le": "the", **NOUNS, **VERBS}
    assert all(0.1 <= probability <= 1 for _, probability in found.values())
    assert pairs == 48
    with pytest.raises(InputError, match="no dictionary can be induced"):
        induce(DOCUMENTS[1:], 0.1, 2)
