"""continuous_transformer: masking, incremental decoding, its outputs and options, and what it refuses."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from fairseq.data import Dictionary
from fairseq.sequence_generator import SequenceGenerator
from tiny_models import LENGTHS, PREVIOUS, SOURCE, batch
from tiny_models import transformer as build

from fairseq_xl.continuous.diagnostics.nearest import nearest_while_translating
from fairseq_xl.continuous.models.transformer_config import REFUSED
from fairseq_xl.continuous.nearest.generator import TopWordsGenerator
from fairseq_xl.io.errors import InputError

from .conftest import DIM

# The options of fairseq's Transformer that change what is computed.
VARIANTS = {
    "plain": {},
    "normalize_before": {"encoder_normalize_before": True, "decoder_normalize_before": True},
    "no_final_norm": {"decoder_normalize_before": True, "no_decoder_final_norm": True},
    "learned_pos": {"encoder_learned_pos": True, "decoder_learned_pos": True},
    "no_positions": {"no_token_positional_embeddings": True},
    "layernorm_embedding": {"layernorm_embedding": True, "no_scale_embedding": True},
    "cross_self_attention": {"cross_self_attention": True},
    "narrow_encoder": {"encoder_embed_dim": 16, "activation_fn": "gelu", "encoder_layers": 1},
    "untied": {"untie_decoder_input": True},
    "checkpointed": {"checkpoint_activations": True},
    "quant_noise": {"quant_noise_pq": 0.1, "quant_noise_pq_block_size": 4},
    "layerdrop": {"encoder_layerdrop": 0.5, "decoder_layerdrop": 0.5},
    "softmax": {"decoder_output": "softmax"},
}


@pytest.mark.parametrize("options", VARIANTS.values(), ids=VARIANTS)
def test_padding_and_company_never_matter(task, vectors, options):
    model = build(task, vectors, **options)
    together, extra = model(SOURCE, LENGTHS, PREVIOUS)
    alone, _ = model(SOURCE[1:, :3], LENGTHS[1:], PREVIOUS[1:, :2])
    assert together.shape == (2, 4, 17 if "decoder_output" in options else DIM)
    assert torch.allclose(together[1, :2], alone[0], atol=1e-5)
    left_padded = torch.tensor([[5, 6, 7, 8, 2], [1, 1, 9, 4, 2]])
    moved, _ = model(left_padded, LENGTHS, PREVIOUS)
    assert torch.allclose(moved[0], together[0], atol=1e-5)
    assert torch.allclose(moved[1, :2], together[1, :2], atol=1e-5)
    (attention,) = extra["attn"]
    assert attention.shape == (2, 4, 5)
    assert torch.allclose(attention.sum(-1), torch.ones(2, 4))
    assert (attention[1, :, 3:] == 0).all()


@pytest.mark.parametrize("options", VARIANTS.values(), ids=VARIANTS)
def test_step_by_step_equals_teacher_forcing(task, vectors, options):
    model = build(task, vectors, **options)
    previous = torch.tensor([[2, 5, 6, 7], [2, 8, 9, 4]])
    whole, extra = model(SOURCE, LENGTHS, previous)
    encoded, state = model.encoder(SOURCE, LENGTHS), {}
    for step in range(4):
        pred, now = model.decoder(previous[:, : step + 1], encoded, state)
        assert pred.shape[1] == 1
        assert torch.allclose(pred[:, 0], whole[:, step], atol=1e-5)
        assert torch.allclose(now["attn"][0][:, 0], extra["attn"][0][:, step], atol=1e-5)
        if "decoder_output" not in options:
            assert torch.allclose(now["norm"][0][:, 0], whole[:, step].norm(dim=-1), atol=1e-5)


def test_no_prediction_sees_what_follows(task, vectors):
    model = build(task, vectors)
    before, _ = model(SOURCE, LENGTHS, torch.tensor([[2, 5, 6, 7], [2, 8, 9, 4]]))
    after, _ = model(SOURCE, LENGTHS, torch.tensor([[2, 5, 11, 12], [2, 8, 5, 6]]))
    assert torch.allclose(before[:, :2], after[:, :2], atol=1e-6)
    assert not torch.allclose(before[:, 2:], after[:, 2:], atol=1e-2)


def test_every_option_of_training_gives_every_part_a_gradient(task, vectors):
    for name, options in VARIANTS.items():
        if "layerdrop" in name:
            continue
        model = build(task, vectors, **options).train()
        model(SOURCE, LENGTHS, PREVIOUS)[0].square().sum().backward()
        for parameter, value in model.named_parameters():
            assert value.grad is not None, (name, parameter)


def test_reordering_beams_moves_every_state(task, vectors):
    """Two beams to a sentence; fairseq's attention counts on hypotheses staying with their sentence."""
    model = build(task, vectors)
    source, lengths = SOURCE.repeat_interleave(2, 0), LENGTHS.repeat_interleave(2)
    previous = torch.tensor([[2, 5, 6], [2, 8, 9], [2, 4, 5], [2, 10, 11]])
    order = torch.tensor([1, 0, 3, 3])
    encoded, state = model.encoder(source, lengths), {}
    for step in (1, 2):
        model.decoder(previous[:, :step], encoded, state)
    model.decoder.reorder_incremental_state_scripting(state, order)
    moved = model.encoder.reorder_encoder_out(encoded, order)
    pred, _ = model.decoder(previous[order], moved, state)
    assert torch.allclose(pred[:, 0], model(source, lengths, previous)[0][order, 2], atol=1e-5)


def test_continuous_output_learns_no_vocabulary_sized_matrix_on_the_target_side(task, vectors):
    model = build(task, vectors)
    assert not any(17 in p.shape for p in model.decoder.parameters())
    tables = [n for n, x in model.state_dict().items() if n.startswith("decoder") and 17 in x.shape]
    assert sorted(tables) == ["decoder.targets.banned", "decoder.targets.table"]
    untied = build(task, vectors, untie_decoder_input=True)
    words = untied.decoder.embed_tokens.words.weight
    assert words.requires_grad
    assert torch.equal(words, untied.decoder.targets.table)


def test_the_decoder_reads_the_table_that_it_predicts(task, vectors):
    model = build(task, vectors)
    before, _ = model(SOURCE, LENGTHS, PREVIOUS)
    with torch.no_grad():
        model.decoder.targets.table[5] *= -1
    after, _ = model(SOURCE, LENGTHS, PREVIOUS)
    assert torch.equal(before[:, 0], after[:, 0])
    assert not torch.allclose(before[0, 1], after[0, 1], atol=1e-2)


def test_a_swapped_vocabulary_is_read_and_predicted(task, vectors, tmp_path):
    """The same vectors under new names in another order, and four words more."""
    trained = build(task, vectors)
    lines = Path(vectors).read_text().splitlines()[1:]
    renamed = [f"new{line}" for line in reversed(lines)] + [f"more{i} " + "0.5 " * 8 + f"{i}" for i in range(4)]
    (tmp_path / "new.vec").write_text(f"17 {DIM}\n" + "\n".join(renamed) + "\n")
    words = Dictionary()
    for line in renamed:
        words.add_symbol(line.split()[0])
    other = SimpleNamespace(source_dictionary=task.source_dictionary, target_dictionary=words)
    swapped = build(other, None, swap_vectors=str(tmp_path / "new.vec"), targets_in_checkpoint=True, target_dim=DIM)
    swapped.load_state_dict(trained.state_dict())
    before, _ = trained(SOURCE, LENGTHS, PREVIOUS)
    moved = torch.where(PREVIOUS < 4, PREVIOUS, 20 - PREVIOUS)
    output = swapped(SOURCE, LENGTHS, moved)
    assert torch.allclose(output[0], before, atol=1e-5)
    assert swapped.get_normalized_probs(output, log_probs=True).shape == (2, 4, 21)


def test_half_precision_leaves_the_table_alone(task, vectors):
    model = build(task, vectors).bfloat16()
    pred, extra = model(SOURCE, LENGTHS, PREVIOUS)
    assert pred.dtype == torch.bfloat16
    assert model.decoder.targets.table.dtype == torch.float32
    scores = model.get_normalized_probs((pred, extra), log_probs=True)
    assert scores.dtype == torch.float32


@pytest.mark.parametrize("output", ["softmax", "softmax_tied"])
def test_softmax_baselines_start_from_the_vectors_and_differ_in_the_last_layer_only(task, vectors, output):
    model, ours = build(task, vectors, decoder_output=output), build(task, vectors)
    logits, extra = model(SOURCE, LENGTHS, PREVIOUS)
    assert logits.shape == (2, 4, 17)
    assert "norm" not in extra
    decoder = model.decoder
    assert torch.equal(decoder.softmax_weight, ours.decoder.targets.table)
    shared = decoder.softmax_weight is decoder.embed_tokens.words.weight
    assert shared == (output == "softmax_tied")
    probs = model.get_normalized_probs((logits, {}), log_probs=False)
    assert torch.allclose(probs.sum(-1), torch.ones(2, 4))
    body = {n: p.shape for n, p in ours.named_parameters()}
    extra = {n for n, _ in model.named_parameters()} - set(body)
    assert extra <= {"decoder.softmax_weight", "decoder.softmax_bias", "decoder.embed_tokens.words.weight"}
    assert all(dict(model.named_parameters())[n].shape == s for n, s in body.items())


def wandering(task, vectors, seed):
    """Untrained predictions hardly move; these go from word to word."""
    model = build(task, vectors, seed, decode_score="vmf_posterior")
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if ".fc" in name:
                parameter.mul_(5)
    return model


@pytest.mark.parametrize("beam", [1, 4])
def test_beam_search_is_the_same_over_the_best_words_alone(task, vectors, beam):
    words = task.target_dictionary
    for seed in (0, 2, 3):
        model = wandering(task, vectors, seed)
        options = {"beam_size": beam, "max_len_b": 10}
        stock = SequenceGenerator([model], words, **options).generate([model], batch(15))
        ours = TopWordsGenerator([model], words, **options).generate([model], batch(15))
        assert len({tuple(s[0]["tokens"].tolist()) for s in stock}) > 2
        for a, b in zip(ours, stock, strict=True):
            assert [h["tokens"].tolist() for h in a] == [h["tokens"].tolist() for h in b]
            assert torch.allclose(a[0]["positional_scores"], b[0]["positional_scores"], atol=1e-4)
            assert torch.allclose(a[0]["attention"], b[0]["attention"], atol=1e-5)


def test_a_found_translation_is_scored_as_teacher_forcing_scores_it(task, vectors):
    """Beams are reordered at nearly every step here, so any state left behind would show."""
    words, sample = task.target_dictionary, batch(15)
    model = wandering(task, vectors, 0)
    found = SequenceGenerator([model], words, beam_size=5, max_len_b=8).generate([model], sample)
    source = sample["net_input"]
    for row, hypotheses in enumerate(found):
        for hypothesis in hypotheses:
            tokens = hypothesis["tokens"].unsqueeze(0)
            previous = torch.cat([tokens[:, -1:], tokens[:, :-1]], 1)
            output = model(source["src_tokens"][row : row + 1], source["src_lengths"][:1], previous)
            scores = model.get_normalized_probs(output, log_probs=True)
            each = scores.gather(-1, tokens.unsqueeze(-1)).squeeze()
            assert torch.allclose(each, hypothesis["positional_scores"], atol=1e-4)


def test_neighbours_are_those_of_the_greedy_translation(task, vectors):
    model, words = wandering(task, vectors, 0), task.target_dictionary
    sentence = "w1 w3 w5 w2"
    steps = nearest_while_translating(model, task, sentence, k=3, max_length=8)
    source = task.source_dictionary.encode_line(sentence, add_if_not_exist=False).long()
    sample = {"net_input": {"src_tokens": source.unsqueeze(0), "src_lengths": torch.tensor([len(source)])}}
    options = {"beam_size": 1, "max_len_a": 0, "max_len_b": 8}
    (found,) = SequenceGenerator([model], words, **options).generate([model], sample)
    greedy = [words[token] for token in found[0]["tokens"].tolist()][:8]
    assert [step.neighbours[0][0] for step in steps][: len(greedy) - 1] == greedy[:-1]
    assert len(set(greedy)) > 2


OPTIONS_REFUSED = {**dict.fromkeys(REFUSED, True), "adaptive_softmax_cutoff": [3, 5], "decoder_embed_path": "x.vec"}


@pytest.mark.parametrize("name", OPTIONS_REFUSED)
def test_options_that_mean_nothing_here_are_refused_with_the_reason(task, vectors, name):
    with pytest.raises(InputError, match=f"does without --{name.replace('_', '-')}: "):
        build(task, vectors, **{name: OPTIONS_REFUSED[name]})


def test_what_does_not_go_together_is_refused_in_a_sentence(task, vectors):
    with pytest.raises(InputError, match="needs --target-vectors FILE"):
        build(task, None)
    with pytest.raises(InputError, match="--decoder-embed-dim 30 is no multiple of --decoder-attention-h"):
        build(task, vectors, decoder_embed_dim=30, decoder_attention_heads=4)
    with pytest.raises(InputError, match="swap_vectors needs"):
        build(task, vectors, swap_vectors=vectors, untie_decoder_input=True)
    with pytest.raises(InputError, match=r"cannot be built with these options: .*block size"):
        build(task, vectors, quant_noise_pq=0.1, quant_noise_pq_block_size=7)
