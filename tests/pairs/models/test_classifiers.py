"""Every classifier: padding and company do not matter; the equations of its paper in loops."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from fairseq_xl.pairs.models.decomposable import DISTANCES, DecomposableAttention
from fairseq_xl.pairs.models.esim import ESIM
from fairseq_xl.pairs.models.infersent import SENTENCE_ENCODERS, InferSent
from fairseq_xl.pairs.models.siamese import NEAREST, BatchNorm, FeatureClassifier, ManhattanLSTM

DIM = 6
CLASSIFIERS = {
    "manhattan": lambda: ManhattanLSTM(DIM, 5),
    "conv": lambda: FeatureClassifier(DIM, ("conv",), 4, 7),
    "conv_lstm_bilstm": lambda: FeatureClassifier(DIM, ("conv", "lstm", "bilstm"), 4, 7),
    "conv_absolute": lambda: FeatureClassifier(DIM, ("conv", "bilstm"), 4, 7, "absolute"),
    **{f"infersent_{name}": lambda name=name: InferSent(DIM, 16, 7, name) for name in SENTENCE_ENCODERS},
    "esim": lambda: ESIM(DIM, 8),
    "decomposable": lambda: DecomposableAttention(DIM, 8),
    "decomposable_intra": lambda: DecomposableAttention(DIM, 8, intra_attention=True),
    "decomposable_enhanced": lambda: DecomposableAttention(DIM, 8, enhanced=True),
}
SYMMETRIC = ("manhattan", "conv_absolute")


@pytest.fixture
def sentences() -> list[torch.Tensor]:
    torch.manual_seed(2)
    return [torch.randn(length, DIM, dtype=torch.float64) for length in (1, 4, 2, 7, 3, 3)]


def made(name: str) -> nn.Module:
    torch.manual_seed(3)
    classifier = CLASSIFIERS[name]().double()
    for module in classifier.modules():
        if isinstance(module, nn.BatchNorm1d):  # statistics that are not those of a fresh layer
            module.running_mean.normal_()
            module.running_var.uniform_(0.5, 2)
    return classifier.eval()


def padded(sentences: list[torch.Tensor], extra: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows of one length with junk at padding, and where the padding is."""
    length = max(map(len, sentences)) + extra
    words = torch.randn(len(sentences), length, DIM, dtype=torch.float64) * 3
    padding = torch.ones(len(sentences), length, dtype=torch.bool)
    for row, sentence in enumerate(sentences):
        words[row, : len(sentence)] = sentence
        padding[row, : len(sentence)] = False
    return words, padding


def scores(classifier: nn.Module, left, right, extra: int = 0) -> torch.Tensor:
    (a, a_padding), (b, b_padding) = padded(left, extra), padded(right, 2 * extra)
    return classifier(a, b, a_padding, b_padding)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_neither_padding_nor_other_pairs_matter(name, sentences):
    classifier = made(name)
    left, right = sentences[:3], sentences[3:]
    alone = torch.cat([scores(classifier, [a], [b]) for a, b in zip(left, right, strict=True)])
    assert alone.shape == (3,)
    torch.testing.assert_close(scores(classifier, left, right), alone)
    torch.testing.assert_close(scores(classifier, left, right, extra=5), alone)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_words_matter(name, sentences):
    classifier = made(name)
    other = [sentences[0] + 1]
    assert not torch.allclose(
        scores(classifier, sentences[:1], sentences[3:4]), scores(classifier, other, sentences[3:4])
    )


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_the_order_of_the_sentences(name, sentences):
    classifier = made(name)
    there, back = (scores(classifier, sentences[:3], sentences[3:]), scores(classifier, sentences[3:], sentences[:3]))
    assert torch.allclose(there, back) == (name in SYMMETRIC)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_parameter_learns(name, sentences):
    classifier = made(name).train()
    scores(classifier, sentences[:3], sentences[3:]).pow(2).sum().backward()
    still = [n for n, p in classifier.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    assert not still


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_batch_of_one_trains(name, sentences):
    assert torch.isfinite(scores(made(name).train(), sentences[:1], sentences[1:2])).all()


def test_manhattan_probability(sentences):
    classifier = made("manhattan")
    left, right = sentences[1].unsqueeze(0), sentences[2].unsqueeze(0)
    states = [classifier.encoder.lstm(words)[0][0, -1] for words in (left, right)]
    expected = torch.exp(-(states[0] - states[1]).abs().sum()).float()
    torch.testing.assert_close(scores(classifier, sentences[1:2], sentences[2:3]).sigmoid()[0], expected)


def test_manhattan_of_equal_sentences_is_finite(sentences):
    found = scores(made("manhattan"), sentences[:1], sentences[:1]).sigmoid()
    torch.testing.assert_close(found[0], torch.exp(torch.tensor(-NEAREST)))


def test_features_are_compared_by_difference_and_product(sentences):
    classifier = made("conv_lstm_bilstm")
    a, b = (classifier.encode(*padded([s])) for s in sentences[:2])
    assert a.shape == (1, 5 * 4)  # three convolutions, an LSTM, a BiLSTM
    expected = classifier.decide(torch.cat([a - b, a * b], 1))[0]
    torch.testing.assert_close(scores(classifier, sentences[:1], sentences[1:2]), expected)


def test_infersent_reads_a_sentence_word_by_word(sentences):
    """Max and mean over a BiLSTM's states; a BiGRU's two last states; four layers of windows of three words."""
    words = sentences[3]
    one, length = words.unsqueeze(1), torch.tensor([len(words)])
    for name in ("max", "mean"):
        classifier = made(f"infersent_bilstm_{name}")
        states = classifier.encoder.lstm(one, length)[0].squeeze(1)
        expected = states.amax(0) if name == "max" else states.mean(0)
        torch.testing.assert_close(classifier.encode(*padded([words]))[0], expected)
    gru = made("infersent_bigru_last")
    onwards = gru.encoder.forwards(words.unsqueeze(0))[1].flatten()
    back = gru.encoder.backwards(words.flip(0).unsqueeze(0))[1].flatten()
    torch.testing.assert_close(gru.encode(*padded([words]))[0], torch.cat([onwards, back]))
    conv = made("infersent_conv")
    layer, found = torch.cat([torch.zeros(1, DIM), words, torch.zeros(1, DIM)]).double(), []
    for filters in conv.encoder.layers:
        rows = torch.stack(
            [
                torch.relu(torch.einsum("fcw,wc->f", filters.weight, layer[t : t + 3]) + filters.bias)
                for t in range(len(words))
            ]
        )
        found.append(rows.amax(0))
        layer = torch.cat([torch.zeros(1, rows.shape[1]), rows, torch.zeros(1, rows.shape[1])]).double()
    torch.testing.assert_close(conv.encode(*padded([words]))[0], torch.cat(found))


def test_infersent_compares_in_four_ways(sentences):
    classifier = made("infersent_lstm_last")
    u, v = (classifier.encode(*padded([s])) for s in sentences[:2])
    expected = classifier.decide(torch.cat([u, v, (u - v).abs(), u * v], 1))[0]
    torch.testing.assert_close(scores(classifier, sentences[:1], sentences[1:2]), expected)


def test_esim_in_loops(sentences):
    """Equations 11 to 20 word by word."""
    classifier = made("esim")
    left, right = sentences[1], sentences[3]

    def states(lstm, words):
        return lstm(words.unsqueeze(1), torch.tensor([len(words)]))[0].squeeze(1)

    a, b = states(classifier.read, left), states(classifier.read, right)
    energy = [[torch.dot(x, y) for y in b] for x in a]
    a_seen = [sum(w * y for w, y in zip(torch.stack(row).softmax(0), b, strict=True)) for row in energy]
    columns = zip(*energy, strict=True)
    b_seen = [sum(w * x for w, x in zip(torch.stack(c).softmax(0), a, strict=True)) for c in columns]
    pooled = []
    for own, seen in ((a, a_seen), (b, b_seen)):
        compared = [
            torch.relu(classifier.shrink(torch.cat([x, y, x - y, x * y]))) for x, y in zip(own, seen, strict=True)
        ]
        v = states(classifier.compose, torch.stack(compared))
        pooled += [v.mean(0), v.amax(0)]
    expected = classifier.decide(torch.cat(pooled))
    torch.testing.assert_close(scores(classifier, [left], [right]), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["decomposable", "decomposable_intra", "decomposable_enhanced"])
def test_decomposable_attention_in_loops(sentences, name):
    """Equations 1 to 5, and 7 with its bias for distances; or comparison and pooling as in ESIM."""
    classifier, intra = made(name), name.endswith("intra")
    if intra:
        nn.init.normal_(classifier.intra.bias)

    def beside_its_own(words):
        if not intra:
            return list(words)
        seen = [classifier.intra.attend(word) for word in words]
        rows = []
        for i, word in enumerate(words):
            bias = [
                classifier.intra.bias[min(max(j - i, -DISTANCES), DISTANCES) + DISTANCES] for j in range(len(words))
            ]
            weights = torch.stack([torch.dot(seen[i], other) + d for other, d in zip(seen, bias, strict=True)]).softmax(
                0
            )
            rows.append(torch.cat([word, sum(w * x for w, x in zip(weights, words, strict=True))]))
        return rows

    a, b = beside_its_own(sentences[1]), beside_its_own(sentences[3])
    energy = torch.stack([torch.stack([torch.dot(classifier.attend(x), classifier.attend(y)) for y in b]) for x in a])
    beta = energy.softmax(1) @ torch.stack(b)
    alpha = energy.softmax(0).t() @ torch.stack(a)
    v1, v2 = [], []
    for found, words, seen in ((v1, a, beta), (v2, b, alpha)):
        for x, y in zip(words, seen, strict=True):
            more = [x - y, x * y] if name.endswith("enhanced") else []
            found.append(classifier.compare(torch.cat([x, y, *more])))
    if name.endswith("enhanced"):
        pooled = [part for v in (v1, v2) for part in (sum(v) / len(v), torch.stack(v).amax(0))]
    else:
        pooled = [sum(v1), sum(v2)]
    expected = classifier.decide(classifier.aggregate(torch.cat(pooled)))
    torch.testing.assert_close(scores(classifier, sentences[1:2], sentences[3:4]), expected, rtol=1e-5, atol=1e-6)


def test_unknown_parts_are_refused():
    with pytest.raises(ValueError, match="extractors are conv, lstm, bilstm, not gru"):
        FeatureClassifier(DIM, ("conv", "gru"), 4, 7)
    with pytest.raises(ValueError, match="signed or absolute"):
        FeatureClassifier(DIM, ("conv",), 4, 7, "squared")
    with pytest.raises(ValueError, match="a sentence encoder is bilstm_max"):
        InferSent(DIM, 8, 7, "bert")
    with pytest.raises(ValueError, match="an activation is relu, sigmoid, tanh"):
        InferSent(DIM, 8, 7, activation="swish")
    with pytest.raises(ValueError, match="four layers share 6 features"):
        InferSent(DIM, 6, 7, "conv")


def test_batch_norm_of_several_is_torch_s():
    ours, theirs = BatchNorm(3), nn.BatchNorm1d(3)
    x = torch.randn(4, 3)
    torch.testing.assert_close(ours(x), theirs(x))
    torch.testing.assert_close(ours.running_mean, theirs.running_mean)
