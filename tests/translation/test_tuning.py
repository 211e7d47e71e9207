"""Tuning of decoding: ranking by length penalty, the search, the results file, and the command."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from fairseq.dataclass.configs import GenerationConfig

from fairseq_xl.cli import main as cli
from fairseq_xl.continuous.models import loading
from fairseq_xl.continuous.models.config import TinyConfig
from fairseq_xl.continuous.models.lstm import ContinuousLSTM
from fairseq_xl.io.errors import InputError
from fairseq_xl.translation import tuning, validation
from fairseq_xl.translation.options import Decoding
from fairseq_xl.translation.tuning import Hypothesis, Outcome, Point, Results, Tuning

START = Point("cosine", 20.0, 1.0, 0.0, 5)


def test_the_length_penalty_ranks_as_fairseq_does():
    beams = [[Hypothesis("a b c", -3.0, 4), Hypothesis("a", -1.2, 2)], [Hypothesis("x", -1.0, 2)]]
    assert tuning.best_texts(beams, 0) == ["a", "x"]
    assert tuning.best_texts(beams, 1) == ["a", "x"]
    assert tuning.best_texts(beams, 2) == ["a b c", "x"]


def test_bleu_and_length_are_of_tokens_as_they_are():
    beams = [[Hypothesis("it 's a 3.5 m-long dog", -1.0, 7)]]
    found = tuning.outcomes(beams, ["it 's a 3.5 m-long dog"])
    assert found.keys() == {f"{value:g}" for value in tuning.LENGTH_PENALTIES}
    assert found["1"].bleu == pytest.approx(100)
    assert found["1"].ratio == 1
    shorter = tuning.outcomes(beams, ["it 's a 3.5 m-long dog that barks"])
    assert shorter["0"].ratio == 6 / 8


def test_the_search_climbs_one_option_after_another():
    asked = []

    def outcomes_of(point):
        asked.append(point)
        right = (point.score == "vmf_posterior") + (point.temperature == 2) + (point.csls_weight == 0.75)
        return {"1": Outcome(20.0 + right, 1.0), "2": Outcome(1.0, 2.0)}

    best = tuning.search(START, outcomes_of)
    assert best == Point("vmf_posterior", 20.0, 2.0, 0.75, 5)
    assert tuning.search(best, outcomes_of) == best
    assert {point.beam for point in asked} == {5}
    assert tuning.search(START, lambda _: {"1": Outcome(3.0, 1.0)}) == START


def test_of_a_softmax_only_the_sharpness_is_searched():
    asked = []

    def outcomes_of(point):
        asked.append(point)
        return {"1": Outcome(20.0 + (point.temperature == 2), 1.0)}

    start = Point("softmax", 1.0, 1.0, 0.0, 5)
    assert tuning.search(start, outcomes_of) == replace(start, temperature=2.0)
    assert {(point.score, point.csls_weight) for point in asked} == {("softmax", 0.0)}
    assert replace(start, beam=1).key == replace(start, beam=1, temperature=2.0).key
    assert replace(start, beam=1, unk_penalty=1.0).key != replace(start, beam=1, temperature=2.0, unk_penalty=1.0).key
    assert start.key != replace(start, temperature=2.0).key


def test_the_penalty_of_unknown_words_is_searched_and_an_unknown_word_costs_three_tokens():
    def outcomes_of(point):
        return {"1": Outcome(20.0 - abs(point.unk_penalty - 3), 1.0)}

    assert tuning.search(START, outcomes_of) == replace(START, unk_penalty=3.0)
    found = tuning.outcomes([[Hypothesis("a <unk> dog runs in the park", -1.0, 8)]], ["a red dog runs in the park"])
    assert found["1"].ratio == 9 / 7
    made = tuning.chosen(replace(START, unk_penalty=3.0), Outcome(1.0, 1.0), {"1": Outcome(2.0, 1.0)}, Tuning())
    assert made.unkpen == 3
    sharp = replace(START, score="vmf_posterior", unk_penalty=3.0, temperature=2.0)
    made = tuning.chosen(sharp, Outcome(3.0, 1.0), {"1": Outcome(2.0, 1.0)}, Tuning())
    assert (made.beam, made.temperature) == (1, 2.0), "greedy search weighs the penalty against the sharpness"


def test_equal_penalties_leave_fairseqs_default():
    assert tuning.best_penalty({"0": Outcome(5, 1), "1": Outcome(5, 1), "2": Outcome(4, 1)}) == "1"
    assert tuning.best_penalty({"0": Outcome(6, 1), "1": Outcome(5, 1)}) == "0"


def test_greedy_points_differ_in_the_csls_weight_alone():
    greedy = replace(START, beam=1)
    assert greedy.key == replace(greedy, score="vmf_posterior", temperature=2.0).key
    assert greedy.key != replace(greedy, csls_weight=0.5).key
    assert START.key != replace(START, scale=10.0).key
    posterior = replace(START, score="vmf_posterior")
    assert posterior.key == replace(posterior, scale=10.0).key
    weighed = replace(greedy, prior=True)
    assert weighed.key != replace(weighed, scale=10.0).key, "a prior is weighed against the cosines"


def test_results_are_kept_and_an_interrupted_search_goes_on(tmp_path):
    path, about = tmp_path / "r.jsonl", {"checkpoint": "c", "data": "d"}
    found = {"1": Outcome(30.5, 1.25)}
    assert Results(path, about).get(START, lambda _: found) == found
    with path.open("a") as stream:
        stream.write('{"point": "half a li')
    results = Results(path, about)
    assert results.get(START, lambda _: pytest.fail("decoded again")) == found
    other = replace(START, scale=5.0)
    results.get(other, lambda _: found)
    assert Results(path, about).found.keys() == {START.key, other.key}
    for begun in ('{"checkpoint": "c", "da', ""):
        path.write_text(begun)
        Results(path, about)
        assert json.loads(path.read_text()) == about
    with pytest.raises(InputError, match=r"results of another data: give another --results"):
        Results(path, {"checkpoint": "c", "data": "e"})
    there, here = os.pipe()
    os.close(here)
    with pytest.raises(InputError, match="is a pipe, and would have to be read twice: give a file"):
        Results(Path(f"/dev/fd/{there}"), about)
    os.close(there)
    for text in ("[]\n[]\n", "text\n"):
        path.write_text(text)
        with pytest.raises(InputError, match="give another --results"):
            Results(path, about)


@pytest.mark.parametrize("penalty", [0.0, 1.0, 2.0])
def test_penalties_read_off_one_decoding_are_fairseqs_own(untrained, penalty):
    model, task = untrained
    dataset, batches = task.dataset("valid"), [[3, 5, 1], [8, 4, 0, 6, 2, 7]]
    point = Point("cosine", 4.0, 1.3, 0.5, 4)
    ours = {}
    for beams in validation.translate(model, task, dataset, point, batches, Tuning(max_len_a=0.5, max_len_b=4)):
        ours.update(beams)
    assert sorted(ours) == list(range(9))
    options = GenerationConfig(beam=4, temperature=1.3, lenpen=penalty, max_len_a=0.5, max_len_b=4)
    generator = task.build_generator([model], options)
    for numbers in batches:
        sample = dataset.collater([dataset[number] for number in numbers])
        found = generator.generate([model], sample)
        for number, beam in zip(sample["id"].tolist(), found, strict=True):
            expected = task.target_dictionary.string(beam[0]["tokens"])
            assert tuning.best_texts([ours[number]], penalty) == [expected]


def test_a_softmax_is_tuned_by_its_temperature(untrained, monkeypatch, tmp_path, capsys):
    _, task = untrained
    torch.manual_seed(1)
    softmax = ContinuousLSTM.build_model(TinyConfig(decoder_output="softmax", max_target_positions=16), task).eval()
    monkeypatch.setitem(tuning.SHARPNESS, "softmax", (1.0, 3.0))
    monkeypatch.setattr(tuning, "UNK_PENALTIES", (0.0,))
    monkeypatch.setattr(loading, "load_model", lambda *_: (softmax, task))
    assert run_with(tmp_path, "--beam", 3) == 0
    said = capsys.readouterr().out
    lines = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert [line["point"] for line in lines[1:]] == ["beam 1", "temperature 1, beam 3", "temperature 3, beam 3"]
    assert "as saved" in said
    assert "--model-overrides" not in said


def run_command(untrained, monkeypatch, tmp_path, *options):
    """The command without reading a checkpoint."""
    monkeypatch.setattr(loading, "load_model", lambda *_: untrained)
    for name, values in (("SHARPNESS", {"cosine": (5.0,)}), ("CSLS_WEIGHTS", (0.0, 1.0)), ("UNK_PENALTIES", (0.0,))):
        monkeypatch.setattr(tuning, name, values)
    return run_with(tmp_path, *options)


def run_with(tmp_path, *options):
    """The command line, on files of no content."""
    (tmp_path / "data").mkdir(exist_ok=True)
    (tmp_path / "data" / "valid.a-b.a.bin").write_bytes(b"set")
    (tmp_path / "model.pt").write_bytes(b"weights")
    words = ["translate", "tune", tmp_path / "model.pt", "--data", tmp_path / "data", "--device", "cpu"]
    words += ["--results", tmp_path / "r.jsonl", "--batch-size", 4, *options]
    return cli.main([str(word) for word in words])


def test_command_prints_a_table_and_options_and_decodes_nothing_twice(untrained, monkeypatch, tmp_path, capsys):
    assert run_command(untrained, monkeypatch, tmp_path, "--beam", 3, "--limit", 7) == 0
    first = capsys.readouterr().out
    assert "as saved" in first
    assert "best" in first
    assert re.search(r"unkpen +beam 1 +ratio +beam 3 +ratio +lenpen +BLEU +ratio\n", first)
    assert "--model-overrides \"{'decode_score': 'cosine', 'decode_scale': " in first
    lines = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    keys = [line["point"] for line in lines[1:]]
    assert len(keys) == len(set(keys))
    assert {"CSLS 0, beam 1", "CSLS 1, beam 1"} <= set(keys)
    scorer = untrained[0].decoder.scorer
    scorer.scale, scorer.csls_weight = 20.0, 0.0
    monkeypatch.setattr(validation, "translate", lambda *_: pytest.fail("decoded again"))
    run_command(untrained, monkeypatch, tmp_path, "--beam", 3, "--limit", 7, "--choice", tmp_path / "choice")
    assert capsys.readouterr().out == first
    assert f"--search '{(tmp_path / 'choice').read_text().rstrip()}'" in first
    assert run_command(untrained, monkeypatch, tmp_path, "--beam", 3, "--limit", 6) == 2
    assert "results of another limit" in capsys.readouterr().err


def test_greedy_search_is_offered_where_it_is_better():
    found = {"1": Outcome(29.0, 0.9), "2": Outcome(30.0, 1.0)}
    greedy = tuning.chosen(START, Outcome(31.0, 1.0), found, Tuning())
    assert greedy == Decoding(
        beam=1, max_len_a=1.5, max_len_b=5, decode_score="cosine", decode_scale=20.0, decode_csls_weight=0.0
    )
    posterior = Point("vmf_posterior", 20.0, 0.5, 0.25, 5)
    beam = tuning.chosen(posterior, Outcome(29.5, 1.0), found, Tuning(max_len_a=0, max_len_b=200))
    assert (beam.beam, beam.lenpen, beam.temperature, beam.decode_scale) == (5, 2.0, 0.5, None)


def test_options_are_to_be_pasted_after_three_commands():
    options = Decoding(beam=5, lenpen=2.0, temperature=0.5, decode_score="vmf_posterior", decode_csls_weight=0.25)
    lines = [line.strip() for line in tuning.paste(options) if line.startswith("  ")]
    assert lines == [
        "--beam 5 --lenpen 2 --temperature 0.5"
        " --model-overrides \"{'decode_score': 'vmf_posterior', 'decode_csls_weight': 0.25}\"",
        "--beam 5 --lenpen 2 --temperature 0.5 --decode-score vmf_posterior --decode-csls-weight 0.25",
        "--search 'lenpen=2 temperature=0.5 decode_score=vmf_posterior decode_csls_weight=0.25'",
    ]


@pytest.mark.parametrize(
    "options", [("--beam", 1), ("--limit", 0), ("--batch-size", 0), ("--max-len-a", -1.0), ("--max-len-b", 0)]
)
def test_numbers_that_make_no_sense_are_refused(untrained, monkeypatch, tmp_path, capsys, options):
    assert run_command(untrained, monkeypatch, tmp_path, *options) == 2
    assert f"{options[0]} is {options[1]}: give" in capsys.readouterr().err
