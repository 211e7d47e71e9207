from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.evaluation import baselines
from fairseq_xl.syntactic.evaluation.cosines import Directions
from fairseq_xl.syntactic.tagging.tagged import TaggedText


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


def test_a_bag_of_tags_knows_no_order() -> None:
    upos = [("DET", "NOUN", "VERB"), ("VERB", "DET", "NOUN"), ("NOUN", "VERB"), ("PUNCT",)]
    (matrix,) = baselines.bag_of_tags([text("en", "", "", "", "", upos=upos)])
    found = cosines(matrix)
    assert found[0, 1] == pytest.approx(1)
    assert found[0, 2] == pytest.approx(2 / math.sqrt(6))
    assert found[0, 3] == 0


def test_characters_by_hand() -> None:
    """ " a " and " ab " have the bigrams (_a, a_) and (_a, ab, b_): only _a, in both, is shared."""
    first, second = baselines.characters([text("en", "a"), text("de", "AB", "aa a")], shortest=2, longest=2)
    assert first.shape == (1, 5)  # _a a_ ab b_ aa: languages share one space
    rare = 1 + math.log(4 / 2)  # in one of three sentences
    shared, two = 1 + math.log(4 / 4), 1 + math.log(4 / 3)
    np.testing.assert_allclose(first.toarray(), [[shared, two, 0, 0, 0]])
    # "_aa_a_": _a twice, aa once, a_ twice
    twice = 1 + math.log(2)
    expected = [[shared, 0, rare, rare, 0], [twice * shared, twice * two, 0, 0, rare]]
    np.testing.assert_allclose(second.toarray(), expected)


def test_empty_sentences_have_characters_too() -> None:
    (matrix,) = baselines.characters([text("en", "", "a")])
    assert matrix.shape[0] == 2
    assert np.isfinite(cosines(matrix)).all()


def test_words_are_cut_where_they_end() -> None:
    assert baselines.words_of("Don't go, 3x!") == ["Don", "'", "t", "go", ",", "3x", "!"]
    assert baselines.words_of("我是学生OK。") == ["我", "是", "学", "生", "OK", "。"]
    assert baselines.words_of("나는 학생이다.") == ["나는", "학생이다", "."]


def vectors(path: Path, **words: tuple[float, ...]) -> None:
    lines = [f"{len(words)} 2", *(f"{word} {a} {b}" for word, (a, b) in words.items())]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_mean_vectors_leave_unknown_words_out(tmp_path: Path) -> None:
    vectors(tmp_path / "en.vec", a=(1, 3), b=(3, 5))
    vectors(tmp_path / "de.vec", c=(0, 1))
    texts = [text("en", "a b x", "b", "x"), text("de", "c", "")]
    english, german = baselines.mean_vectors(texts, str(tmp_path / "{lang}.vec"))
    np.testing.assert_allclose(english, [[2, 4], [3, 5], [0, 0]])
    np.testing.assert_allclose(german, [[0, 1], [0, 0]])
    (one,) = baselines.mean_vectors(texts[:1], str(tmp_path / "en.vec"))
    np.testing.assert_allclose(one, english)


def test_vectors_of_another_language_are_refused(tmp_path: Path) -> None:
    vectors(tmp_path / "en.vec", a=(1, 3))
    with pytest.raises(InputError, match=r"no vector for any word of de\.tsv"):
        baselines.mean_vectors([text("de", "c")], str(tmp_path / "en.vec"))
