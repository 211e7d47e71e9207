"""continuous_lstm: masking, incremental decoding, every option's shape, and what it refuses."""

import pytest
import torch
from tiny_models import LENGTHS, PREVIOUS, SOURCE
from tiny_models import lstm as build

from fairseq_xl.io.errors import InputError

from .conftest import DIM


@pytest.mark.parametrize("feeding", [False, True])
@pytest.mark.parametrize(("encoder_layers", "decoder_layers"), [(1, 1), (1, 2), (3, 2), (2, 3)])
@pytest.mark.parametrize("attention", ["dot", "general", "additive"])
def test_padding_and_company_never_matter(task, vectors, feeding, encoder_layers, decoder_layers, attention):
    model = build(
        task,
        vectors,
        input_feeding=feeding,
        encoder_layers=encoder_layers,
        decoder_layers=decoder_layers,
        attention=attention,
    )
    together, extra = model(SOURCE, LENGTHS, PREVIOUS)
    alone, _ = model(SOURCE[1:, :3], LENGTHS[1:], PREVIOUS[1:, :2])
    assert together.shape == (2, 4, DIM)
    assert torch.allclose(together[1, :2], alone[0], atol=1e-6)
    left_padded = torch.tensor([[5, 6, 7, 8, 2], [1, 1, 9, 4, 2]])
    padded, moved = model(left_padded, LENGTHS, PREVIOUS)
    assert torch.allclose(padded, together, atol=1e-6)
    # Attention is to the columns of the source as it was given.
    assert torch.allclose(moved["attn"][0][0], extra["attn"][0][0], atol=1e-6)
    assert torch.allclose(moved["attn"][0][1, :, 2:], extra["attn"][0][1, :, :3], atol=1e-6)
    assert (moved["attn"][0][1, :, :2] == 0).all()


@pytest.mark.parametrize("feeding", [False, True])
@pytest.mark.parametrize("decoder_layers", [1, 2])
def test_step_by_step_equals_teacher_forcing(task, vectors, feeding, decoder_layers):
    model = build(task, vectors, input_feeding=feeding, decoder_layers=decoder_layers)
    whole, extra = model(SOURCE, LENGTHS, PREVIOUS)
    encoded, state = model.encoder(SOURCE, LENGTHS), {}
    for step in range(4):
        pred, now = model.decoder(PREVIOUS[:, : step + 1], encoded, state)
        assert torch.allclose(pred[:, 0], whole[:, step], atol=1e-6)
        assert torch.allclose(now["attn"][0][:, 0], extra["attn"][0][:, step], atol=1e-6)
        assert torch.allclose(now["norm"][0][:, 0], whole[:, step].norm(dim=-1), atol=1e-6)


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize(
    "options", [{}, {"input_feeding": True, "attention": "additive"}, {"decoder_output": "softmax"}]
)
def test_half_precision_leaves_table_and_scores_alone(task, vectors, kind, options):
    model = build(task, vectors, **options).to(kind)
    output = model(SOURCE, LENGTHS, PREVIOUS)
    assert output[0].dtype == kind
    assert model.get_normalized_probs(output, log_probs=True).dtype == torch.float32
    if model.decoder.targets is not None:
        assert model.decoder.targets.table.dtype == torch.float32


def test_reordering_moves_every_state(task, vectors):
    model = build(task, vectors, input_feeding=True, decoder_layers=2)
    swap = torch.tensor([1, 0])
    encoded, state = model.encoder(SOURCE, LENGTHS), {}
    model.decoder(PREVIOUS[:, :1], encoded, state)
    model.decoder.reorder_incremental_state(state, swap)
    moved = model.encoder.reorder_encoder_out(encoded, swap)
    pred, _ = model.decoder(PREVIOUS[swap, :2], moved, state)
    assert torch.allclose(pred[:, 0], model(SOURCE, LENGTHS, PREVIOUS)[0][swap, 1], atol=1e-6)


def test_continuous_output_learns_no_vocabulary_sized_matrix_on_the_target_side(task, vectors):
    model = build(task, vectors)
    assert not any(13 + 4 in p.shape for p in model.decoder.parameters())
    assert "decoder.targets.table" in model.state_dict()
    untied = build(task, vectors, untie_decoder_input=True)
    assert untied.decoder.embed_tokens.weight.requires_grad


@pytest.mark.parametrize("output", ["softmax", "softmax_tied"])
def test_softmax_baselines_start_from_the_vectors_and_differ_in_the_last_layer_only(task, vectors, output):
    model, ours = build(task, vectors, decoder_output=output), build(task, vectors)
    logits, _ = model(SOURCE, LENGTHS, PREVIOUS)
    assert logits.shape == (2, 4, 17)
    table = ours.decoder.targets.table
    assert torch.equal(model.decoder.softmax_weight, table)
    shared = model.decoder.softmax_weight is model.decoder.embed_tokens.weight
    assert shared == (output == "softmax_tied")
    probs = model.get_normalized_probs((logits, {}), log_probs=False)
    assert torch.allclose(probs.sum(-1), torch.ones(2, 4))
    body = {n: p.shape for n, p in ours.named_parameters()}
    extra = {n for n, _ in model.named_parameters()} - set(body)
    assert extra <= {"decoder.softmax_weight", "decoder.softmax_bias", "decoder.embed_tokens.weight"}
    assert all(dict(model.named_parameters())[n].shape == s for n, s in body.items())


def test_softmax_without_vectors(task):
    model = build(task, None, decoder_output="softmax", target_dim=5)
    assert model.decoder.softmax_weight.shape == (17, 5)


def test_what_does_not_go_together_is_refused_in_a_sentence(task, vectors):
    with pytest.raises(InputError, match="needs --target-vectors FILE"):
        build(task, None)
    with pytest.raises(InputError, match=r"dot attention needs .* not 8 and 6"):
        build(task, vectors, attention="dot", decoder_hidden_dim=6)
    with pytest.raises(InputError, match="7 units, which is odd"):
        build(task, vectors, encoder_hidden_dim=7)
    with pytest.raises(InputError, match="an encoder of 0 layers: give 1 or more"):
        build(task, vectors, encoder_layers=0)
    with pytest.raises(InputError, match="a decoder of 0 layers: give 1 or more"):
        build(task, vectors, decoder_layers=0)
    with pytest.raises(InputError, match="swap_vectors needs"):
        build(task, vectors, swap_vectors=vectors, untie_decoder_input=True)
