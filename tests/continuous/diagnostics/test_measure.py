"""A whole model on a split: batches make no difference, and greedy decoding is paired by position."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from fairseq.data import Dictionary

from fairseq_xl.continuous.diagnostics.measure import measure, own_decoding
from fairseq_xl.continuous.diagnostics.nearest import nearest_while_translating
from fairseq_xl.continuous.diagnostics.settings import Settings
from fairseq_xl.io.errors import InputError

from .conftest import LONGEST, WORDS


def test_the_same_in_batches_and_sentence_by_sentence(trained):
    together, alone = (measure(*trained, Settings(max_tokens=tokens, words=["w3"]), 0.5) for tokens in (1000, 13))
    assert together["sentences"] == alone["sentences"] == 17
    assert together["skipped_sentences"] == 1
    for key in ("reference_words", "hubness", "wrong_sharing_nearest_word"):
        assert together[key] == alone[key]
    for key in ("teacher_forcing", "own_decoding"):
        accuracy, other = together[key].pop("accuracy"), alone[key].pop("accuracy")
        assert accuracy == pytest.approx(other)
        assert together[key] == pytest.approx(alone[key], abs=1e-6)
    assert together["words"][0]["predicted"] == alone["words"][0]["predicted"]
    assert together["geometry"]["cosine"]["mean"] == pytest.approx(alone["geometry"]["cosine"]["mean"])
    for name in ("projection", "difference", "most_informative"):
        a, b = together["stability"][name], alone["stability"][name]
        assert a["hinge_active"] == b["hinge_active"]
        assert a["lambda3"]["mean"] == pytest.approx(b["lambda3"]["mean"], abs=1e-6)


def test_own_decoding_pairs_greedy_words_with_the_reference_by_position(trained):
    model, task = trained
    found = measure(model, task, Settings(), None)["own_decoding"]
    pairs = correct = words = 0
    similarity = []
    task.load_dataset("valid")
    for item in (task.dataset("valid")[i] for i in range(17)):
        sentence = task.source_dictionary.string(item["source"])
        reference = item["target"].tolist()
        # fairseq ends a translation after so many words; what it then says is beyond every reference.
        steps = nearest_while_translating(model, task, sentence, 1, LONGEST)
        words += len(steps)
        for step, target in zip(steps, reference, strict=False):
            ((word, cosine),) = step.neighbours
            pairs += 1
            if task.target_dictionary.index(word) == target:
                correct += 1
            else:
                similarity.append(cosine)
    assert pairs > 17
    assert (found["positions"], found["correct"], found["hypothesis_words"]) == (pairs, correct, words)
    assert found["nearest_when_wrong"] == pytest.approx(np.mean(similarity), abs=1e-5)


def test_what_only_translation_or_reference_has_is_left_out():
    decoded = [[7, 8, 9, 2], [2], [5, 2]]
    task = SimpleNamespace(
        target_dictionary=Dictionary(),
        inference_step=lambda *_: [[{"tokens": torch.tensor(words)}] for words in decoded],
    )
    sample = {
        "net_input": {"src_tokens": "source", "src_lengths": "lengths"},
        "target": torch.tensor([[7, 2, 1], [6, 5, 2], [4, 2, 1]]),
    }

    def model(src_tokens, src_lengths, prev_output_tokens):
        assert (src_tokens, src_lengths) == ("source", "lengths")
        return 10.0 * prev_output_tokens.unsqueeze(-1), {}

    pred, index, words = own_decoding(model, task, None, sample)
    # What was read before each prediction, and what should have been predicted.
    assert pred.squeeze(1).tolist() == [20, 70, 20, 20, 50]
    assert index.tolist() == [7, 2, 6, 4, 2]
    assert words == 7


def test_what_is_measured_is_plain_json(trained):
    found = measure(*trained, Settings(words=["w1", "<unk>"]), None)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["languages"] == ["de", "en"]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (Settings(split="valdi"), "no split 'valdi'"),
        (Settings(words=["w1", "wx"]), "'wx' is not in the target dictionary"),
        (Settings(top=WORDS + 2), "knows 62 words, too few"),
    ],
    ids=["split", "word", "k"],
)
def test_what_cannot_be_measured_is_refused(trained, settings, sentence):
    with pytest.raises(InputError, match=sentence):
        measure(*trained, settings, None)


def test_a_split_without_a_target_side_is_refused(trained, monkeypatch):
    model, task = trained
    task.load_dataset("valid")
    monkeypatch.setattr(task.dataset("valid"), "tgt", None)
    monkeypatch.setattr(task, "load_dataset", lambda split: None)
    with pytest.raises(InputError, match=r"the split 'valid' in .* has no target side"):
        measure(model, task, Settings(), None)


def test_predictions_that_are_not_finite_are_refused(trained):
    model, task = trained
    bias = model.decoder.output_projection.bias
    before = bias.detach().clone()
    try:
        with torch.no_grad():
            bias[0] = torch.nan
        with pytest.raises(InputError, match="not finite"):
            measure(model, task, Settings(), None)
    finally:
        with torch.no_grad():
            bias.copy_(before)


def test_hubs_are_counted_among_the_k_nearest(trained):
    few, most = (measure(*trained, Settings(top=k), None)["hubness"] for k in (1, WORDS + 1))
    assert few["predictions"]["never"] > 0.1
    # All words but one are near to each prediction.
    assert most["predictions"]["never"] == 0
    assert most["targets"]["hubs"][0][1] == most["targets"]["queries"] == most["predictions"]["queries"]
