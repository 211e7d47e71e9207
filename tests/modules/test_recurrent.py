"""Padding must never matter to a recurrent encoder."""

import pytest
import torch

from fairseq_xl.modules.recurrent import BidirectionalLSTM, pack_left, packed_places, reverse_within_length


def test_pack_left_from_either_side():
    tokens = torch.tensor([[1, 1, 7, 8], [5, 6, 1, 1], [2, 3, 4, 5]])
    packed, lengths = pack_left(tokens, pad=1)
    assert packed.tolist() == [[7, 8, 1, 1], [5, 6, 1, 1], [2, 3, 4, 5]]
    assert lengths.tolist() == [2, 2, 4]
    assert torch.equal(packed.gather(1, packed_places(tokens, pad=1)), tokens)


def test_reverse_within_length():
    x = torch.arange(8.0).view(4, 2, 1)
    flipped = reverse_within_length(x, torch.tensor([4, 2])).squeeze(-1)
    assert flipped.t().tolist() == [[6, 4, 2, 0], [3, 1, 5, 7]]
    assert torch.equal(reverse_within_length(flipped.unsqueeze(-1), torch.tensor([4, 2])), x)


@pytest.mark.parametrize("layers", [1, 2])
def test_each_sequence_alone_gives_the_same_states(layers):
    torch.manual_seed(0)
    lstm = BidirectionalLSTM(5, 6, layers)
    lengths = torch.tensor([4, 2, 3])
    x = torch.randn(4, 3, 5)
    outputs, final = lstm(x, lengths)
    assert final.shape == (layers, 3, 6)
    for n, length in enumerate(lengths.tolist()):
        alone, last = lstm(x[:length, n : n + 1], lengths[n : n + 1])
        assert torch.allclose(outputs[:length, n], alone[:, 0], atol=1e-6)
        assert torch.allclose(final[:, n], last[:, 0], atol=1e-6)


def test_equals_torchs_own_bidirectional_lstm():
    torch.manual_seed(0)
    ours, theirs = BidirectionalLSTM(5, 6), torch.nn.LSTM(5, 3, bidirectional=True)
    with torch.no_grad():
        for name, parameter in theirs.named_parameters():
            direction = ours.backwards if name.endswith("_reverse") else ours.forwards
            parameter.copy_(getattr(direction[0], name.removesuffix("_reverse")))
    x, lengths = torch.randn(4, 3, 5), torch.tensor([4, 3, 1])
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, lengths)
    expected, (hidden, _) = theirs(packed)
    expected, _ = torch.nn.utils.rnn.pad_packed_sequence(expected)
    outputs, final = ours(x, lengths)
    for n, length in enumerate(lengths.tolist()):
        assert torch.allclose(outputs[:length, n], expected[:length, n], atol=1e-6)
    assert torch.allclose(final[0], torch.cat([hidden[0], hidden[1]], -1), atol=1e-6)


def test_sizes_that_cannot_be():
    with pytest.raises(ValueError, match="7 units"):
        BidirectionalLSTM(5, 7)
    with pytest.raises(ValueError, match="0 layers: give 1 or more"):
        BidirectionalLSTM(5, 8, layers=0)
