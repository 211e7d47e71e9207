from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from fairseq_xl.syntactic.evaluation import baselines
from fairseq_xl.syntactic.evaluation.cosines import Directions
from fairseq_xl.syntactic.tagging.tagged_text import TaggedText


def text(language: str, *sentences: str, upos: list[tuple[str, ...]] | None = None) -> TaggedText:
    tags = upos or [("X",) * len(sentence.split()) for sentence in sentences]
    return TaggedText(Path(f"{language}.tsv"), language, list(sentences), tags, [])


def cosines(matrix) -> np.ndarray:
    rows = Directions(matrix)
    return rows.cosines(0, len(rows), rows).numpy()


def test_by_length_the_nearest_is_the_nearest_in_length() -> None:
    lengths = [1, 2, 3, 10, 11, 199, 200, 500]
    (matrix,) = baselines.length([text("en", *("a " * n for n in lengths))])
    found = cosines(matrix)
    capped = np.minimum(lengths, baselines.LONGEST)
    difference = np.abs(capped[:, None] - capped[None, :])
    for row, gaps in zip(found, difference, strict=True):
        # the larger the difference in length, the smaller the cosine, by more than what counts as equal
        order = np.argsort(gaps, kind="stable")
        steps = np.diff(row[order])
        assert (steps[np.diff(gaps[order]) > 0] < -1e-6).all()
        assert np.abs(steps[np.diff(gaps[order]) == 0]).max(initial=0) < 1e-12


def test_length_is_of_the_raw_text_and_not_of_the_tags() -> None:
    upos = [("X",) * n for n in (9, 2, 2)]
    words = text("en", "one two three", "four five six", "one", upos=upos)
    without_spaces = text("zh", "我喜欢苹果", upos=[("X",)])  # five characters count as three words
    first, second = baselines.length([words, without_spaces])
    found = cosines(np.concatenate([first, second]))
    assert found[0, 1] == pytest.approx(1, abs=1e-12)
    assert found[0, 3] == pytest.approx(1, abs=1e-12)
    assert found[1, 2] < 1 - 1e-6


def test_a_bag_of_tags_knows_no_order() -> None:
    upos = [("DET", "NOUN", "VERB"), ("VERB", "DET", "NOUN"), ("NOUN", "VERB"), ("PUNCT",)]
    (matrix,) = baselines.tags([text("en", "", "", "", "", upos=upos)])
    found = cosines(matrix)
    assert found[0, 1] == pytest.approx(1)
    assert found[0, 2] == pytest.approx(2 / math.sqrt(6))
    assert found[0, 3] == 0


def test_characters_by_hand() -> None:
    """ " a " and " ab " have the bigrams (_a, a_) and (_a, ab, b_): only _a, in both, is shared."""
    first, second = baselines.characters([text("en", "a"), text("de", "AB", "aa a")], shortest=2, longest=2)
    assert first.shape == (1, 5)  # _a a_ aa ab b_: languages share one space
    rare = 1 + math.log(4 / 2)  # in one of three sentences
    shared, two = 1 + math.log(4 / 4), 1 + math.log(4 / 3)
    np.testing.assert_allclose(first.toarray(), [[shared, two, 0, 0, 0]])
    # "_aa_a_": _a twice, aa once, a_ twice
    twice = 1 + math.log(2)
    expected = [[shared, 0, 0, rare, rare], [twice * shared, twice * two, rare, 0, 0]]
    np.testing.assert_allclose(second.toarray(), expected)


def test_empty_sentences_have_characters_too() -> None:
    (matrix,) = baselines.characters([text("en", "", "a")])
    assert matrix.shape[0] == 2
    assert np.isfinite(cosines(matrix)).all()
