"""The model against the paper's words, written out step by step."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from fairseq.data import Dictionary
from torch.nn.functional import linear

from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.models.config import TinyConfig, UposLSTMConfig
from fairseq_xl.syntactic.models.model import UposLSTM


def dictionary(size: int) -> Dictionary:
    made = Dictionary()
    for i in range(size):
        made.add_symbol(f"w{i}")
    return made


@pytest.fixture
def build():
    task = SimpleNamespace(
        source_dictionary=dictionary(20), target_dictionary=dictionary(5), languages=("de", "en", "zh")
    )

    def make(**options) -> UposLSTM:
        torch.manual_seed(1)
        return UposLSTM.build_model(TinyConfig(**options), task).eval()

    return make


def test_pieces_begin_from_vectors(build, tmp_path):
    """As wide spread as those that are drawn, and in the file's directions."""
    path = tmp_path / "pieces.vec"
    vectors = 7 * torch.randn(3, 16, generator=torch.Generator().manual_seed(2))
    rows = zip(("w3", "elsewhere", "w0"), vectors.tolist(), strict=True)
    path.write_text("".join(f"{word} {' '.join(map(str, row))}\n" for word, row in rows))
    drawn, given = build(), build(encoder_embed_path=str(path))
    first, (weights, before) = 4, (model.encoder.embed_tokens.weight for model in (given, drawn))
    found = weights[[first + 3, first]]
    assert found.std().item() == pytest.approx(0.1 / 3**0.5, rel=1e-5)
    torch.testing.assert_close(found / found.norm(), vectors[[0, 2]] / vectors[[0, 2]].norm())
    others = [i for i in range(len(weights)) if i not in (first, first + 3)]
    assert torch.equal(weights[others], before[others])
    # nothing else is drawn otherwise
    for name, weight in drawn.state_dict().items():
        assert "embed_tokens" in name or torch.equal(given.state_dict()[name], weight)


def test_vectors_that_do_not_fit_the_pieces(build, tmp_path):
    path = tmp_path / "pieces.vec"
    path.write_text("w3 1.0 2.0 3.0\n")
    with pytest.raises(InputError, match=r"pieces\.vec .*dimension 3, but dimension 16 is needed"):
        build(encoder_embed_path=str(path))
    path.write_text("elsewhere" + " 1.5" * 16 + "\n")
    with pytest.raises(InputError, match=r"--encoder-embed-path .*pieces\.vec has no vector of any source piece"):
        build(encoder_embed_path=str(path))
    path.write_text("w3" + " 1.5" * 16 + "\n")
    with pytest.raises(InputError, match=r"--encoder-embed-path .*pieces\.vec has the same number everywhere"):
        build(encoder_embed_path=str(path))
    with pytest.raises(InputError, match="there is no file of word vectors at"):
        build(encoder_embed_path=str(tmp_path / "none.vec"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"encoder_layers": 0}, "--encoder-layers is 0: give 1 or more"),
        ({"encoder_embed_dim": 0}, "--encoder-embed-dim is 0: give 1 or more"),
        ({"encoder_cell_dim": -1}, "--encoder-cell-dim is -1: give 1 or more"),
        ({"decoder_embed_dim": 0}, "--decoder-embed-dim is 0: give 1 or more"),
        ({"decoder_cell_dim": 0}, "--decoder-cell-dim is 0: give 1 or more"),
        ({"language_embed_dim": -1}, "--language-embed-dim is -1: give 0 or more"),
        ({"decoder_output_dim": -1}, "--decoder-output-dim is -1: give 0 or more"),
        ({"dropout": 1.5}, "--dropout is 1.5: give a number from 0 to 1"),
        ({"dropout": float("nan")}, "--dropout is nan: give a number from 0 to 1"),
    ],
)
def test_sizes_that_no_model_has_are_refused(build, options, message):
    with pytest.raises(InputError, match=message):
        build(**options)


BATCH = {
    "src_tokens": torch.tensor([[5, 6, 7, 8, 2], [9, 10, 2, 1, 1], [2, 1, 1, 1, 1]]),
    "src_lengths": torch.tensor([5, 3, 1]),
    "prev_output_tokens": torch.tensor([[2, 4, 5, 6], [2, 6, 1, 1], [2, 4, 4, 1]]),
    "target_languages": torch.tensor([0, 2, 2]),
}


def lstm_steps(inputs, hidden, cell, weights):
    """Textbook LSTM (Hochreiter & Schmidhuber 1997, with forget gates) over inputs (T, E)."""
    w_in, w_state, b_in, b_state = weights
    states = []
    for x in inputs:
        i, f, g, o = (linear(x, w_in, b_in) + linear(hidden, w_state, b_state)).chunk(4)
        cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
        hidden = o.sigmoid() * cell.tanh()
        states.append(hidden)
    return torch.stack(states), hidden, cell


def weights_of(lstm, layer, suffix=""):
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    return [getattr(lstm, f"{name}_l{layer}{suffix}") for name in names]


@torch.no_grad()
def test_it_is_the_papers_model(build):
    model = build()
    encoder, decoder = model.encoder, model.decoder
    logits, _ = model(**BATCH)
    for row in range(3):
        length = BATCH["src_lengths"][row]
        x = encoder.embed_tokens(BATCH["src_tokens"][row, :length])
        zero = torch.zeros(16)
        for layer in range(2):
            ahead, h_ahead, c_ahead = lstm_steps(x, zero, zero, weights_of(encoder.lstm, layer))
            back, h_back, c_back = lstm_steps(x.flip(0), zero, zero, weights_of(encoder.lstm, layer, "_reverse"))
            x = torch.cat([ahead, back.flip(0)], -1)
        embedding = x.amax(0)
        start = decoder.bridge(torch.cat([h_ahead, h_back, c_ahead, c_back]))
        tags = decoder.embed_tokens(BATCH["prev_output_tokens"][row])
        language = decoder.embed_language(BATCH["target_languages"][row])
        inputs = torch.stack([torch.cat([tag, language, embedding]) for tag in tags])
        states, *_ = lstm_steps(inputs, start[:32], start[32:], weights_of(decoder.lstm, 0))
        assert torch.allclose(decoder.output_projection(states), logits[row], atol=1e-5)
        encoded = model.encode_sentences(BATCH["src_tokens"], BATCH["src_lengths"])
        assert torch.allclose(encoded[row], embedding, atol=1e-6)


@torch.no_grad()
@pytest.mark.parametrize("pooling", ["max", "mean"])
def test_padding_and_neighbours_change_nothing(build, pooling):
    model = build(pooling=pooling)
    together = model.encode_sentences(BATCH["src_tokens"], BATCH["src_lengths"])
    for row, length in enumerate(BATCH["src_lengths"]):
        alone = model.encode_sentences(BATCH["src_tokens"][row : row + 1, :length], length.unsqueeze(0))
        assert torch.allclose(alone[0], together[row], atol=1e-6)
    shuffled = torch.tensor([2, 0, 1])
    moved = model.encode_sentences(BATCH["src_tokens"][shuffled], BATCH["src_lengths"][shuffled])
    assert torch.allclose(moved, together[shuffled], atol=1e-6)


@torch.no_grad()
def test_the_decoder_is_told_the_language_and_the_encoder_is_not(build):
    model = build()
    other = {**BATCH, "target_languages": torch.tensor([1, 1, 2])}
    changed = (model(**BATCH)[0] - model(**other)[0]).abs().amax((1, 2)) > 1e-4
    assert changed.tolist() == [True, True, False]
    assert "language" not in " ".join(dict(model.encoder.named_parameters()))


def test_every_weight_learns(build):
    model = build(decoder_output_dim=6, dropout=0.2).train()
    logits, _ = model(**BATCH)
    logits.log_softmax(-1)[..., 4].sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().sum() > 0, name
    assert model.encoder.embed_tokens.weight.grad[1].eq(0).all()


def test_dropout_is_in_the_encoder_and_in_training_only(build):
    model = build(dropout=0.5)
    encode = lambda: model.encode_sentences(BATCH["src_tokens"], BATCH["src_lengths"])  # noqa: E731
    assert torch.equal(encode(), encode())
    model.train()
    assert not torch.equal(encode(), encode())


def test_the_defaults_are_table_1():
    cfg = UposLSTMConfig()
    sizes = (cfg.encoder_layers, cfg.encoder_cell_dim, cfg.decoder_cell_dim, cfg.encoder_embed_dim)
    assert sizes == (2, 128, 512, 100)
    assert (cfg.decoder_embed_dim, cfg.language_embed_dim, cfg.dropout, cfg.pooling) == (100, 20, 0.2, "max")
