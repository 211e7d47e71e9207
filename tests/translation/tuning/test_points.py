"""Which points give the same translations."""

from __future__ import annotations

from dataclasses import replace

from fairseq_xl.translation.tuning.points import Point

START = Point("cosine", 20.0, 1.0, 0.0, 5)


def test_greedy_points_differ_in_the_csls_weight_alone():
    greedy = replace(START, beam=1)
    assert greedy.key == replace(greedy, score="vmf_posterior", temperature=2.0).key
    assert greedy.key != replace(greedy, csls_weight=0.5).key
    assert START.key != replace(START, scale=10.0).key
    posterior = replace(START, score="vmf_posterior")
    assert posterior.key == replace(posterior, scale=10.0).key
    weighed = replace(greedy, prior=True)
    assert weighed.key != replace(weighed, scale=10.0).key, "a prior is weighed against the cosines"
