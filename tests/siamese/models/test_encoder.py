"""The encoder: what it computes, and that padding and company never matter."""

from __future__ import annotations

import itertools

import pytest
import torch

from fairseq_xl.siamese.models.encoder import KINDS, ORDERS, POOLINGS, EncoderSizes, SiameseEncoder, length_groups

PAD, UNKNOWN = 1, 3
VARIANTS = [
    (kind, pooling)
    for kind, pooling in itertools.product(KINDS, POOLINGS)
    if not (pooling == "last" and kind in ("cnn", "bag"))
]


def encoder(**options) -> SiameseEncoder:
    torch.manual_seed(1)
    sizes = EncoderSizes(**{"embed_dim": 6, "hidden_dim": 8, "sentence_dim": 5, **options})
    return SiameseEncoder(20, PAD, UNKNOWN, sizes).eval()


def rows(lengths, generator=0):
    generator = torch.Generator().manual_seed(generator)
    tokens = torch.full((len(lengths), max(lengths)), PAD)
    for row, length in zip(tokens, lengths, strict=True):
        row[:length] = torch.randint(4, 20, (length,), generator=generator)
    return tokens


def test_equation_1():
    model = encoder()
    tokens = rows([4])
    with torch.no_grad():
        x = model.embed(tokens).transpose(0, 1)
        ahead = model.body.forwards[0](x)[1][0][0]
        back = model.body.backwards[0](x.flip(0))[1][0][0]
        wanted = torch.relu(model.dense.weight @ torch.cat([ahead, back], 1)[0] + model.dense.bias)
        torch.testing.assert_close(model(tokens)[0], wanted)


def test_the_relu_before_the_dense_layer():
    model = encoder(dense_order="relu_dense")
    tokens = rows([4])
    with torch.no_grad():
        final = model.body(model.embed(tokens).transpose(0, 1), torch.tensor([4]))[1][-1]
        torch.testing.assert_close(model(tokens), model.dense(final.relu()))


@pytest.mark.parametrize(("kind", "pooling"), VARIANTS)
@torch.no_grad()
def test_padding_and_company_never_matter(kind, pooling):
    model = encoder(encoder_kind=kind, pooling=pooling, layers=2)
    tokens = rows([7, 3, 5, 1])
    together = model(tokens)
    for row, length, found in zip(tokens, [7, 3, 5, 1], together, strict=True):
        torch.testing.assert_close(model(row[None, :length])[0], found)
    left = torch.stack([torch.roll(row, int((row == PAD).sum())) for row in tokens])
    torch.testing.assert_close(model(left), together)


@torch.no_grad()
def test_groups_of_similar_length_give_the_same_vectors_in_order():
    model = encoder(encoder_kind="gru")
    lengths = [3, 40, 4, 38, *range(1, 60)]
    tokens = rows(lengths)
    assert len(length_groups(torch.tensor(lengths))) > 1
    alone = torch.cat([model(row[None, :length]) for row, length in zip(tokens, lengths, strict=True)])
    torch.testing.assert_close(model(tokens), alone)


def test_length_groups_cover_all_rows_and_waste_little():
    lengths = torch.randint(5, 200, (300,), generator=torch.Generator().manual_seed(1))
    groups = length_groups(lengths, smallest=16, waste=0.15)
    assert sorted(torch.cat(groups).tolist()) == list(range(300))
    padded = sum(len(g) * int(lengths[g].max()) for g in groups)
    assert int(lengths.sum()) / padded > 0.8
    assert all(len(g) >= 16 for g in groups[:-1])


@torch.no_grad()
def test_shorter_ngrams_are_added_to_the_trigram():
    model = encoder(ngram_orders=2, encoder_kind="bag", pooling="mean")
    tokens = torch.tensor([[4, 5, 6, 7]])
    mean = (model.embed.weight[4] + model.embed.weight[5] + model.embed.weight[6] + model.embed.weight[7]) / 2
    torch.testing.assert_close(model(tokens)[0], torch.relu(model.dense(mean)))


def test_lost_units_are_read_as_unknown_in_training_only():
    model = encoder(encoder_kind="bag", pooling="mean", unit_dropout=0.999999)
    tokens = rows([6, 2])
    with torch.no_grad():
        unknown = torch.relu(model.dense(model.embed.weight[UNKNOWN]))
        assert not torch.allclose(model(tokens)[0], unknown)
        torch.testing.assert_close(model.train()(tokens), unknown.expand(2, -1))


def test_every_parameter_learns():
    for kind, pooling in VARIANTS:
        model = encoder(encoder_kind=kind, pooling=pooling, dense_order="dense")
        model(rows([7, 3])).square().sum().backward()
        for name, parameter in model.named_parameters():
            assert parameter.grad is not None, (kind, pooling, name)
            assert parameter.grad.abs().sum() > 0, (kind, pooling, name)


def test_fresh_cosines_are_spread():
    """Were they all near 1, the loss would hardly have a gradient."""
    model = encoder(embed_dim=64, hidden_dim=64, sentence_dim=64)
    z = torch.nn.functional.normalize(model(rows([20] * 40)), dim=1)
    cosine = (z @ z.t())[~torch.eye(40, dtype=torch.bool)]
    assert cosine.mean() < 0.9


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"encoder_kind": "bag"}, "has no last state"),
        ({"hidden_dim": 7}, "which is odd"),
        ({"sentence_dim": 0}, "has sizes from 1"),
        ({"embed_dim": -1}, "has sizes from 1"),
        ({"dropout": 1.5}, "a dropout is from 0 to below 1, not 1.5 and 0"),
        ({"pooling": "min"}, "no such encoder"),
        ({"dense_order": ORDERS[0] + "x"}, "no such encoder"),
    ],
)
def test_mistakes(options, said):
    with pytest.raises(ValueError, match=said):
        encoder(**options)
