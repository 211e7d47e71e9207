"""Segmentation by Morfessor."""

from __future__ import annotations

import random

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.siamese.data.morphemes import BOUNDARY, Segmenter
from fairseq_xl.text.ngrams import graphemes

pytest.importorskip("morfessor")
STEMS = ("సినిమా", "రోజులు", "మంచితనం", "కథలు", "పాటలు", "తెలంగాణ", "ప్రభుత్వం", "విద్యార్థు", "నాయకులు", "అధికారులు")
ENDINGS = ("లోపల", "కోసం", "గురించి", "తోపాటు", "వరకు", "నుంచి")
TEXTS = [stem + ending for stem in STEMS for ending in ENDINGS] + list(STEMS) + list(ENDINGS)


@pytest.fixture(scope="module")
def segmenter():
    return Segmenter.train(TEXTS)


def test_it_joins_to_the_word_and_never_splits_a_character(segmenter):
    for word in [*TEXTS, "కథలోకి", "unseen"]:
        parts = segmenter.segment(word)
        assert "".join(parts) == word
        assert [c for part in parts for c in graphemes(part)] == graphemes(word)


def test_words_stay_apart(segmenter):
    assert segmenter("సినిమాలో కథను").replace(BOUNDARY, "") == "సినిమాలో కథను"


def test_it_segments_agglutination(segmenter):
    assert any(len(segmenter.segment(word)) > 1 for word in TEXTS)


def test_saved_and_loaded_it_segments_alike(segmenter, tmp_path):
    segmenter.save(tmp_path / "m.txt")
    again = Segmenter.load(tmp_path / "m.txt")
    for word in [*TEXTS, "కథలోకి", "మంచిను"]:
        assert again.segment(word) == segmenter.segment(word)


def test_unseen_words_are_cut_alike_before_and_after_saving(tmp_path):
    draw = random.Random(1)
    syllables = ["".join(draw.choices("bdgklmnprst") + draw.choices("aeiou")) for _ in range(40)]
    words = ["".join(draw.choices(syllables, k=draw.randint(2, 4))) for _ in range(1500)]
    segmenter = Segmenter.train(words[:700])
    segmenter.save(tmp_path / "m.txt")
    again = Segmenter.load(tmp_path / "m.txt")
    assert [again.segment(word) for word in words] == [segmenter.segment(word) for word in words]


def test_a_damaged_file(tmp_path):
    (tmp_path / "m.txt").write_text("a  b\n")
    with pytest.raises(InputError, match="line 1: expected the morphemes"):
        Segmenter.load(tmp_path / "m.txt")
