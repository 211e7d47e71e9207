"""BLEU and length of a decoding under every length penalty."""

from __future__ import annotations

import pytest
from fairseq.dataclass.configs import GenerationConfig

from fairseq_xl.translation.tuning import decoding, outcomes
from fairseq_xl.translation.tuning.outcomes import Hypothesis, Outcome
from fairseq_xl.translation.tuning.points import Point, Tuning


def test_the_length_penalty_ranks_as_fairseq_does():
    beams = [[Hypothesis("a b c", -3.0, 4), Hypothesis("a", -1.2, 2)], [Hypothesis("x", -1.0, 2)]]
    assert outcomes.best_texts(beams, 0) == ["a", "x"]
    assert outcomes.best_texts(beams, 1) == ["a", "x"]
    assert outcomes.best_texts(beams, 2) == ["a b c", "x"]


def test_bleu_and_length_are_of_tokens_as_they_are():
    beams = [[Hypothesis("it 's a 3.5 m-long dog", -1.0, 7)]]
    found = outcomes.outcomes(beams, ["it 's a 3.5 m-long dog"])
    assert found.keys() == {f"{value:g}" for value in outcomes.LENGTH_PENALTIES}
    assert found["1"].bleu == pytest.approx(100)
    assert found["1"].ratio == 1
    shorter = outcomes.outcomes(beams, ["it 's a 3.5 m-long dog that barks"])
    assert shorter["0"].ratio == 6 / 8


def test_equal_penalties_leave_fairseqs_default():
    assert outcomes.best_penalty({"0": Outcome(5, 1), "1": Outcome(5, 1), "2": Outcome(4, 1)}) == "1"
    assert outcomes.best_penalty({"0": Outcome(6, 1), "1": Outcome(5, 1)}) == "0"


@pytest.mark.parametrize("penalty", [0.0, 1.0, 2.0])
def test_penalties_read_off_one_decoding_are_fairseqs_own(untrained, penalty):
    model, task = untrained
    dataset, batches = task.dataset("valid"), [[3, 5, 1], [8, 4, 0, 6, 2, 7]]
    point = Point("cosine", 4.0, 1.3, 0.5, 4)
    ours = {}
    for beams in decoding.translate(model, task, dataset, point, batches, Tuning(max_len_a=0.5, max_len_b=4)):
        ours.update(beams)
    assert sorted(ours) == list(range(9))
    options = GenerationConfig(beam=4, temperature=1.3, lenpen=penalty, max_len_a=0.5, max_len_b=4)
    generator = task.build_generator([model], options)
    for numbers in batches:
        sample = dataset.collater([dataset[number] for number in numbers])
        found = generator.generate([model], sample)
        for number, beam in zip(sample["id"].tolist(), found, strict=True):
            expected = task.target_dictionary.string(beam[0]["tokens"])
            assert outcomes.best_texts([ours[number]], penalty) == [expected]
