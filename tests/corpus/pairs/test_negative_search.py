"""The search for negatives against a double loop."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from positive_pairs import positives_of

from fairseq_xl.corpus.pairs import negative_search
from fairseq_xl.corpus.pairs.negative_search import Band
from fairseq_xl.corpus.pairs.rules import rules_of
from fairseq_xl.text.words import frequency_cosine


def random_case(seed: int, count: int):
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(count, 4)).astype(np.float32) + 1.5
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[random.random(count) < 0.1] = 0
    word = lambda: " ".join(random.choice(list("abcdefg"), 3))  # noqa: E731
    first, second = [word() for _ in range(count)], [word() for _ in range(count)]
    home = random.integers(0, 6, count).tolist()
    positives = positives_of(first, second, home)
    for k in range(count):
        positives.pages[k].add(int(random.integers(0, 6)))
    return vectors, random.integers(0, 3, count), positives


def double_loop(vectors, area, positives, band, near, length=0.0):
    """Candidates of each sentence, as the issue's words say."""
    found = {}
    log = [[np.log(1 + len(text)) for text in side] for side in (positives.first, positives.second)]
    usual = [second - first for first, second in zip(*log, strict=True)]
    for q in range(len(vectors)):
        for c in range(len(vectors)):
            cosine = float(vectors[q] @ vectors[c])
            if (
                area[q] == area[c]
                and positives.home[q] not in positives.pages[c]
                and band.low < cosine < band.high
                and frequency_cosine(positives.first[q], positives.first[c]) < near
                and frequency_cosine(positives.second[q], positives.second[c]) < near
                and positives.seconds[q].isdisjoint(positives.seconds[c])
                and (not length or abs(log[1][c] - log[1][q]) <= length * np.std(usual))
            ):
                found.setdefault(q, {})[c] = cosine
    return found


def searched(vectors, area, positives, band, near, seed=1, length=0.0, overlap=1.0):
    found = {}
    rules = rules_of(positives, SimpleNamespace(near=near, length=length, overlap=overlap))
    for block in negative_search.search(vectors, area, positives.home, positives.pages, band, rules, seed):
        for q, c, cosine in zip(*block, strict=True):
            assert c not in found.get(q, {})
            found.setdefault(int(q), {})[int(c)] = float(cosine)
    return found


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 8), st.sampled_from([(3, 5), (7, 2)]))
def test_against_a_double_loop(seed, count, each, sizes):
    vectors, area, positives = random_case(seed, count)
    band = Band(0.8, 0.95, each)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(negative_search, "QUERIES", sizes[0])
        patch.setattr(negative_search, "CANDIDATES", sizes[1])
        found = searched(vectors, area, positives, band, 0.85)
        assert searched(vectors, area, positives, band, 0.85) == found
    expected = double_loop(vectors, area, positives, band, 0.85)
    assert found.keys() == expected.keys()
    for q, candidates in found.items():
        assert len(candidates) == min(each, len(expected[q]))
        for c, cosine in candidates.items():
            assert cosine == pytest.approx(expected[q][c], abs=1e-5)


def test_lengths_against_a_double_loop():
    vectors, area, positives = random_case(5, 60)
    random = np.random.default_rng(6)
    positives.second[:] = [text + "x" * int(random.integers(0, 30)) for text in positives.second]
    band = Band(0.8, 0.95, 60)
    every, found = (searched(vectors, area, positives, band, 0.85, length=length) for length in (0.0, 0.5))
    pairs = {(q, c) for q, candidates in found.items() for c in candidates}
    expected = double_loop(vectors, area, positives, band, 0.85, length=0.5)
    assert pairs == {(q, c) for q, candidates in expected.items() for c in candidates}
    assert 0 < len(pairs) < sum(map(len, every.values()))


def test_lengths_and_overlaps_must_both_fit():
    vectors, area, positives = random_case(5, 60)
    random = np.random.default_rng(6)
    positives.second[:] = [text + "x" * int(random.integers(0, 30)) for text in positives.second]
    band, found = Band(0.8, 0.95, 60), []
    for length, overlap in ((0.0, 1.0), (0.5, 1.0), (0.0, 0.1), (0.5, 0.1)):
        made = searched(vectors, area, positives, band, 0.85, length=length, overlap=overlap)
        found.append({(q, c) for q, candidates in made.items() for c in candidates})
    every, lengths, overlaps, both = found
    assert both == lengths & overlaps
    assert 0 < len(both) < min(len(lengths), len(overlaps))
    assert max(len(lengths), len(overlaps)) < len(every)


def test_no_more_candidates_than_the_pool(monkeypatch):
    monkeypatch.setattr(negative_search, "CANDIDATES", 5)
    count = 40
    vectors = np.ones((count, 1), np.float32)
    positives = positives_of([f"w{k}" for k in range(count)], [f"v{k}" for k in range(count)], list(range(count)))
    found = searched(vectors, np.zeros(count, int), positives, Band(0.8, 1.1, 30, pool=10), 0.9)
    assert {len(one) for one in found.values()} <= {9, 10}


def test_quantiles_are_of_the_same_topic_and_other_pages():
    vectors = np.array([[1, 0], [0, 1], [0.6, 0.8], [1, 0], [0, 0]], np.float32)
    found = negative_search.quantiles(vectors, [0, 0, 0, 1, 0], [0, 0, 1, 2, 3], seed=1, draws=1000)
    assert np.unique(found) == pytest.approx([0.6, 0.8])
    assert len(negative_search.quantiles(vectors, [0] * 5, [0] * 5, seed=1)) == 0
