"""Pages that are aligned by words learned from them."""

from __future__ import annotations

import pytest

from fairseq_xl.corpus.alignment.induced import align_pages, dictionary
from fairseq_xl.io.errors import InputError


def test_a_dictionary_is_learned():
    pairs = [("red house", "maison rouge"), ("red car", "voiture rouge"), ("big house", "grande maison")]
    assert dictionary(pairs * 3)["rouge"] == "red"
    with pytest.raises(InputError, match="no line has a counterpart"):
        dictionary([])


def test_beads_by_a_dictionary_of_all_pages():
    page = ["red house", "red car", "big house here"], ["maison rouge", "voiture rouge", "grande maison ici"]
    shorter = page[0], page[1][1:]
    found = align_pages([page, shorter], 1.0, list(zip(*page, strict=True)))
    assert found[0] == [([k], [k]) for k in range(3)]
    for (first, second), beads in zip([page, shorter], found, strict=True):
        lines = [[line for some in sides for line in some] for sides in zip(*beads, strict=True)]
        assert lines == [list(range(len(first))), list(range(len(second)))]
