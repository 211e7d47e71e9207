"""What the Bi-LSTMs of words and of characters read."""

from __future__ import annotations

import numpy as np
import torch

from fairseq_xl.siamese.baselines import Training
from fairseq_xl.siamese.baselines.recurrent import (
    LONGEST_WORD,
    PAD,
    CharacterEncoder,
    fit_characters,
    fit_words,
    padded,
)


def test_rows_are_padded_at_their_ends() -> None:
    assert padded([[5, 6, 7], [8], [9, 4]]).tolist() == [[5, 6, 7], [8, PAD, PAD], [9, 4, PAD]]


def test_characters_tell_apart_what_are_unknown_words() -> None:
    """Every word stands once, so that all sentences of two words read alike word by word."""
    texts = [f"{stem * (3 + i)} {stem * (30 + i)}" for i in range(12) for stem in ("a", "b")]
    labels = np.arange(len(texts)) % 2
    training = Training(texts, labels, texts, labels, 2, 1)
    assert len(set(fit_words(training)(texts).tolist())) == 1
    np.testing.assert_array_equal(fit_characters(training)(["aaaa aaaaaa", "bbbb bbbbbb"]), [0, 1])


def test_words_are_composed_of_their_letters() -> None:
    torch.manual_seed(1)
    encoder = CharacterEncoder(9).eval()
    rows = [[(2, 3, 4), (5,), (2, 3, 4)], [(2, 3), (4, 5)], [(2, 3, 4), (5,)], [(6,)], [(2, 4, 3), (5,), (2, 3, 4)]]
    with torch.no_grad():
        found = encoder(rows)
        alone = torch.cat([encoder([row]) for row in rows])
        _, (word,) = encoder.word(encoder.letters(torch.tensor([[2, 3, 4]])).transpose(0, 1), torch.tensor([3]))
        composed = encoder.sentence.of_places(word.unsqueeze(1), torch.tensor([1]))
    torch.testing.assert_close(found, alone)  # whatever else is in the batch
    assert len({tuple(row) for row in found.round(decimals=5).tolist()}) == len(rows)  # order and borders matter
    torch.testing.assert_close(composed, encoder([[(2, 3, 4)]]))


def test_a_text_without_words_has_a_class() -> None:
    training = Training(["a b", "c d"], np.array([0, 1]), ["a b", "c d"], np.array([0, 1]), 2, 1)
    for fit in (fit_words, fit_characters):
        assert fit(training)(["", "  "])[0] in (0, 1)


def test_words_are_dropped_in_training_alone() -> None:
    torch.manual_seed(1)
    encoder = CharacterEncoder(9)
    rows = [[(2, 3, 4)] * 40]
    with torch.no_grad():
        once, again = encoder.eval()(rows), encoder(rows)
        torch.testing.assert_close(once, again, rtol=0, atol=0)
        assert not torch.equal(encoder.train()(rows), encoder(rows))


def test_what_follows_a_words_first_letters_is_not_read() -> None:
    """An address in one sentence would have all words of its batch padded to its length."""
    stem = "a" * LONGEST_WORD
    texts = [f"{stem}{tail}" for tail in ("b" * 9, "c" * 9)] * 6
    training = Training(texts, np.arange(12) % 2, texts, np.arange(12) % 2, 2, 1)
    assert len(set(fit_characters(training)(texts).tolist())) == 1
