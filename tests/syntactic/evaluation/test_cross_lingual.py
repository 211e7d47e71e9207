from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.syntactic.evaluation import cosines
from fairseq_xl.syntactic.evaluation.cross_lingual import compare
from fairseq_xl.syntactic.evaluation.similarity import similarities
from fairseq_xl.syntactic.tagging.tagged_text import TaggedText

NOUN, VERB, BOTH, LONG = ("NOUN",), ("VERB",), ("NOUN", "VERB"), ("DET", "NOUN", "VERB")


def text(language: str, upos: list[tuple[str, ...]], numbers: list[str]) -> TaggedText:
    return TaggedText(Path(f"{language}.conllu"), language, ["…"] * len(upos), upos, numbers)


def test_by_hand() -> None:
    german = text("de", [NOUN, BOTH], ["1", "2"])
    english = text("en", [BOTH, NOUN, LONG], ["1", "2", "3"])
    unit = np.eye(3)
    # de 1 is nearest to en 2 (its own tags); de 2 is as near to en 1 (its own tags) as to en 3 (similarity 2/3).
    vectors = (np.array([[0.0, 9, 1], [1, 0, 1]]), unit)
    found = compare(german, english, [vectors, vectors])
    assert found["sentences"] == 2
    assert found["same_attainable"] == 100
    assert found["best"] == 1
    assert found["chance"] == pytest.approx(((1 / 2 + 1 + 1 / 3) + (1 + 1 / 2 + 2 / 3)) / 6)
    assert found["of_translation"] == pytest.approx((1 / 2 + 1 / 2) / 2)
    first, second = found["encoders"]
    assert first == second
    assert first["same"] == pytest.approx(100 * (1 + 1 / 2) / 2)
    assert first["similarity"] == pytest.approx((1 + (1 + 2 / 3) / 2) / 2)
    assert first["translation"] == 0


def test_translations_are_counted_among_sentences_that_have_one() -> None:
    german = text("de", [NOUN, VERB, LONG], ["1", "2", "3"])
    english = text("en", [NOUN, VERB], ["1", "4"])
    found = compare(german, english, [(np.eye(3), np.eye(3)[:2]), (np.eye(3)[[1, 0, 2]], np.eye(3)[:2])])
    assert found["translated"] == pytest.approx(100 / 3)
    assert found["of_translation"] == 1
    assert [scores["translation"] for scores in found["encoders"]] == [100, 0]


def test_texts_that_are_not_parallel_have_no_translations() -> None:
    found = compare(text("de", [NOUN], []), text("en", [VERB, BOTH], ["1", "2"]), [(np.eye(2)[:1], np.eye(2))])
    assert found["of_translation"] is None
    assert found["translated"] == 0
    assert found["same_attainable"] == 0
    assert found["encoders"] == [{"same": 0.0, "similarity": 0.0, "translation": None}]


@given(seed=st.integers(0, 1000))
def test_blocks_do_not_matter_and_the_nearest_is_the_argmax(seed: int) -> None:
    draw = np.random.default_rng(seed)

    def drawn(language: str, n: int) -> TaggedText:
        upos = [tuple(draw.choice(list("NVD"), draw.integers(1, 4))) for _ in range(n)]
        return text(language, upos, list(map(str, range(n))))

    sides = drawn("de", 11), drawn("en", 7)
    vectors = draw.standard_normal((11, 3)), draw.standard_normal((7, 3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cosines, "BLOCK_BYTES", 8 * 7 * 3)
        found = compare(*sides, [vectors])
    mine, theirs = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in vectors)
    nearest = (mine @ theirs.T).argmax(1)
    alike = similarities(sides[0].upos, sides[1].upos)
    (score,) = found["encoders"]
    assert score["similarity"] == pytest.approx(alike[np.arange(11), nearest].mean())
    same = [sides[0].upos[i] == sides[1].upos[j] for i, j in enumerate(nearest)]
    assert score["same"] == pytest.approx(100 * np.mean(same))
    assert score["translation"] == pytest.approx(100 * np.mean(nearest[:7] == np.arange(7)))  # 7 have one
    assert found["best"] == pytest.approx(alike.max(1).mean())
    assert found["of_translation"] == pytest.approx(np.diag(alike).mean())
