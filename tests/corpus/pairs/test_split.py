"""Sentences once, and folds that share none of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.corpus.pairs import split
from fairseq_xl.corpus.pairs.positives import collect
from fairseq_xl.io.errors import InputError
from fairseq_xl.text.words import key

from .conftest import documents

TEXT = st.integers(0, 30).map("sentence {}".format)
PAGES = st.lists(st.lists(st.tuples(TEXT, TEXT), max_size=6), min_size=8, max_size=20)


@given(PAGES, st.integers(0, 3), st.sampled_from([0.1, 0.5, 1.0]), st.sampled_from([0.0, 0.2]))
def test_no_text_and_no_page_in_two_folds(pages, seed, share, test):
    found = collect(documents(pages, [k % 2 for k in range(len(pages))]), share)
    if not len(found):
        return
    texts = [key(text) for side in (found.first, found.second) for text in side]
    assert len(set(texts)) == len(texts)
    group = split.near_copies(found.pages, len(pages), 0.5)
    weight = np.bincount(found.home, minlength=len(pages))
    try:
        fold = split.assign(group, [k % 2 for k in range(len(pages))], weight, 2, test, seed)
    except InputError as error:
        assert "too few" in str(error)  # noqa: PT017
        return
    assert set(fold[weight > 0].tolist()) == {0, 1, *([split.TEST] if test else [])}
    for k in range(max(group) + 1):
        assert len(set(fold[group == k])) == 1


def test_near_copies_stay_together():
    # Pages 0 and 1 share two of three sentences, 1 and 2 one of three, 3 has none.
    assert split.near_copies([{0, 1}, {0, 1}, {0}, {1, 2}, {2}, {2}], 4, 0.5).tolist() == [0, 0, 1, 2]


def test_a_topic_goes_where_it_has_two_pages():
    topics = [0] * 5 + [1] * 40
    fold = split.assign(np.arange(45), topics, np.ones(45, int), 5, 0.2, seed=1)
    for topic, pages in ((0, 5), (1, 40)):
        sizes = np.unique(fold[np.array(topics) == topic], return_counts=True)[1]
        assert sizes.min() >= 2
        assert sizes.sum() == pages
    shares = np.bincount(fold + 1) / 45
    assert shares == pytest.approx([0.2] + [0.16] * 5, abs=0.12)  # the small topic is not divided


def test_a_topic_stays_in_one_fold_where_that_fills_all():
    topics = [k // 4 for k in range(48)]  # twelve topics for five folds and the test split
    fold = split.assign(np.arange(48), topics, np.ones(48, int), 5, 0.2, seed=1)
    assert all(len(set(fold[k : k + 4].tolist())) == 1 for k in range(0, 48, 4))
    assert np.bincount(fold + 1).tolist() == [8] * 6
