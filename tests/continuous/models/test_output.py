"""What continuous models share: the words that a decoder reads, and the table it begins with."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from tiny_models import LENGTHS, PREVIOUS, SOURCE, lstm, transformer

from fairseq_xl.continuous.models.config import VectorOutputConfig
from fairseq_xl.continuous.models.output import learnt_words, target_table, vector_dim
from fairseq_xl.io.errors import InputError


def test_a_table_is_read_once_and_then_awaited_from_the_checkpoint(task: SimpleNamespace, write_vectors) -> None:
    words = task.target_dictionary
    targets = target_table(VectorOutputConfig(target_vectors=write_vectors(13, 6)), words)
    assert targets is not None
    assert (targets.filled, targets.dim) == (True, 6)
    awaited = target_table(VectorOutputConfig(targets_in_checkpoint=True, target_dim=6), words)
    assert awaited is not None
    assert (awaited.filled, awaited.dim) == (False, 6)
    assert target_table(VectorOutputConfig(decoder_output="softmax"), words) is None
    with pytest.raises(InputError, match="needs --target-vectors FILE"):
        target_table(VectorOutputConfig(), words)


def test_words_that_are_learnt_begin_at_the_vectors_or_at_random(task: SimpleNamespace, write_vectors) -> None:
    words = task.target_dictionary
    cfg = VectorOutputConfig(target_vectors=write_vectors(13, 6))
    targets = target_table(cfg, words)
    assert learnt_words(cfg, words, targets) is None, "the decoder reads the frozen table"
    cfg.untie_decoder_input = True
    at_vectors = learnt_words(cfg, words, targets)
    assert at_vectors is not None
    assert torch.equal(at_vectors.weight, targets.table)
    cfg.softmax_init = "random"
    at_random = learnt_words(cfg, words, targets)
    assert at_random is not None
    assert not torch.allclose(at_random.weight[4:], targets.table[4:])
    assert (at_random.weight[words.pad()] == 0).all()


def test_a_softmax_without_a_file_has_a_dimension_too() -> None:
    assert vector_dim(VectorOutputConfig(), None) == 300
    assert vector_dim(VectorOutputConfig(target_dim=5), None) == 5


@pytest.fixture(params=[lstm, transformer])
def build(request, task, vectors):
    """``build(**options)``: a small model of either architecture."""
    return lambda **options: request.param(task, vectors, **options)


def test_output_scale_multiplies_vectors_and_what_decoding_knows_of_their_lengths(build):
    model, scaled = build(), build(output_scale=30)
    scaled.load_state_dict(model.state_dict())
    (pred, extra), (long, long_extra) = model(SOURCE, LENGTHS, PREVIOUS), scaled(SOURCE, LENGTHS, PREVIOUS)
    assert torch.equal(long, 30 * pred)
    assert torch.allclose(long_extra["norm"][0], 30 * extra["norm"][0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"output_scale": 0}, "--output-scale 0 must be a number above 0"),
        ({"output_scale": float("nan")}, "--output-scale nan must be"),
        ({"output_scale": 2, "decoder_output": "softmax"}, "is for a continuous output"),
        ({"decode_csls_weight": 0.0, "decoder_output": "softmax"}, "--decode-csls-weight is for a continuous output"),
        ({"decode_score": "cosine", "decoder_output": "softmax_tied"}, "--decode-score is for a continuous output"),
    ],
)
def test_options_that_do_not_fit_the_output_are_refused(build, options, message):
    with pytest.raises(InputError, match=message):
        build(**options)


def test_scores_leave_out_what_is_no_word(build, task):
    model = build()
    scores = model.get_normalized_probs(model(SOURCE, LENGTHS, PREVIOUS), log_probs=True)
    words = task.target_dictionary
    assert (scores[..., [words.pad(), words.bos()]] == -torch.inf).all()
    assert torch.allclose(scores.exp().sum(-1), torch.ones(2, 4))


def test_a_softmax_criterion_is_refused(build):
    model = build().train()
    with pytest.raises(InputError, match="trains a softmax, but the model predicts vectors"):
        model.get_normalized_probs(model(SOURCE, LENGTHS, PREVIOUS), log_probs=True)


class TestFromASoftmax:
    """``fairseq-train --finetune-from-model`` with the checkpoint of a softmax of the same sizes."""

    @pytest.mark.parametrize(("output", "untie"), [("softmax", True), ("softmax_tied", True), ("softmax_tied", False)])
    def test_predictions_are_the_softmaxs_times_the_mean_length_of_its_rows(self, build, output, untie) -> None:
        softmax = build(decoder_output=output)
        with torch.no_grad():
            softmax.decoder.softmax_weight *= torch.linspace(1, 5, 17).unsqueeze(1)
            if not untie:  # the table is then read as it is, by rows of length one
                torch.nn.functional.normalize(softmax.decoder.softmax_weight, out=softmax.decoder.softmax_weight)
                softmax.decoder.softmax_weight *= 3
        words = softmax.decoder.softmax_weight.clone()
        logits, _ = softmax(SOURCE, LENGTHS, PREVIOUS)
        ours = build(untie_decoder_input=untie)
        table = torch.nn.functional.normalize(words, dim=-1)
        ours.decoder.targets.table.copy_(table)
        ours.load_state_dict(softmax.state_dict())
        pred, _ = ours(SOURCE, LENGTHS, PREVIOUS)
        length = words.norm(dim=-1)[~ours.decoder.targets.banned].mean()
        assert torch.allclose(pred @ words.t(), length * (logits - softmax.decoder.softmax_bias), rtol=1e-4, atol=1e-4)
        assert torch.equal(ours.decoder.targets.table, table), "the table stays"
        scaled = build(untie_decoder_input=untie, output_scale=10)
        scaled.load_state_dict(softmax.state_dict())
        torch.testing.assert_close(scaled(SOURCE, LENGTHS, PREVIOUS)[0], pred)

    def test_a_table_is_not_read_where_the_softmax_read_embeddings_of_its_own(self, build) -> None:
        softmax = build(decoder_output="softmax", softmax_init="random")
        with pytest.raises(InputError, match="give --untie-decoder-input"):
            build().load_state_dict(softmax.state_dict())

    def test_its_biases_become_those_of_the_words(self, build) -> None:
        softmax = build(decoder_output="softmax")
        with torch.no_grad():
            softmax.decoder.softmax_bias.copy_(torch.arange(17.0))
        ours = build(untie_decoder_input=True, word_bias=True)
        ours.load_state_dict(softmax.state_dict())
        assert torch.equal(ours.decoder.targets.bias, softmax.decoder.softmax_bias)

    def test_a_continuous_checkpoint_is_loaded_as_it_is(self, build) -> None:
        model, other = build(), build()
        state = model.state_dict()
        other.load_state_dict(state)
        assert all(torch.equal(value, state[name]) for name, value in other.state_dict().items())

    def test_a_softmax_over_other_words_is_refused(self, build) -> None:
        state = build(decoder_output="softmax").state_dict()
        for name in ("decoder.softmax_weight", "decoder.softmax_bias"):
            state[name] = state[name][:-2]
        with pytest.raises(InputError, match="softmax has 15 words, but the target dictionary has 17 entries"):
            build(untie_decoder_input=True).load_state_dict(state)


def test_a_softmax_refuses_an_option_of_a_continuous_output(build) -> None:
    with pytest.raises(InputError, match="--untie-decoder-input is for a continuous output"):
        build(decoder_output="softmax", untie_decoder_input=True)
    with pytest.raises(InputError, match="--missing-vectors unk is for a continuous output"):
        build(decoder_output="softmax", missing_vectors="unk")
