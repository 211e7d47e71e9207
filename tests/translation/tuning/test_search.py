"""The search from one point to the next."""

from __future__ import annotations

from dataclasses import replace

from fairseq_xl.translation.tuning.choice import chosen
from fairseq_xl.translation.tuning.outcomes import Hypothesis, Outcome, outcomes
from fairseq_xl.translation.tuning.points import Point, Tuning
from fairseq_xl.translation.tuning.search import search

START = Point("cosine", 20.0, 1.0, 0.0, 5)


def test_the_search_climbs_one_option_after_another():
    asked = []

    def outcomes_of(point):
        asked.append(point)
        right = (point.score == "vmf_posterior") + (point.temperature == 2) + (point.csls_weight == 0.75)
        return {"1": Outcome(20.0 + right, 1.0), "2": Outcome(1.0, 2.0)}

    best = search(START, outcomes_of)
    assert best == Point("vmf_posterior", 20.0, 2.0, 0.75, 5)
    assert search(best, outcomes_of) == best
    assert {point.beam for point in asked} == {5}
    assert search(START, lambda _: {"1": Outcome(3.0, 1.0)}) == START


def test_of_a_softmax_only_the_sharpness_is_searched():
    asked = []

    def outcomes_of(point):
        asked.append(point)
        return {"1": Outcome(20.0 + (point.temperature == 2), 1.0)}

    start = Point("softmax", 1.0, 1.0, 0.0, 5)
    assert search(start, outcomes_of) == replace(start, temperature=2.0)
    assert {(point.score, point.csls_weight) for point in asked} == {("softmax", 0.0)}
    assert replace(start, beam=1).key == replace(start, beam=1, temperature=2.0).key
    assert replace(start, beam=1, unkpen=1.0).key != replace(start, beam=1, temperature=2.0, unkpen=1.0).key
    assert start.key != replace(start, temperature=2.0).key


def test_the_penalty_of_unknown_words_is_searched_and_an_unknown_word_costs_three_tokens():
    def outcomes_of(point):
        return {"1": Outcome(20.0 - abs(point.unkpen - 3), 1.0)}

    assert search(START, outcomes_of) == replace(START, unkpen=3.0)
    found = outcomes([[Hypothesis("a <unk> dog runs in the park", -1.0, 8)]], ["a red dog runs in the park"])
    assert found["1"].ratio == 9 / 7
    made = chosen(replace(START, unkpen=3.0), Outcome(1.0, 1.0), {"1": Outcome(2.0, 1.0)}, Tuning())
    assert made.unkpen == 3
    sharp = replace(START, score="vmf_posterior", unkpen=3.0, temperature=2.0)
    made = chosen(sharp, Outcome(3.0, 1.0), {"1": Outcome(2.0, 1.0)}, Tuning())
    assert (made.beam, made.temperature) == (1, 2.0), "greedy search weighs the penalty against the sharpness"
