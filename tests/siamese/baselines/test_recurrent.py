"""What the Bi-LSTMs of words and of characters read."""

from __future__ import annotations

import numpy as np

from fairseq_xl.siamese.baselines import Training
from fairseq_xl.siamese.baselines.recurrent import PAD, fit_characters, fit_words, padded


def test_rows_are_padded_at_their_ends() -> None:
    assert padded([[5, 6, 7], [8], [9, 4]]).tolist() == [[5, 6, 7], [8, PAD, PAD], [9, 4, PAD]]


def test_characters_tell_apart_what_are_unknown_words() -> None:
    """Every word stands once, so that all sentences of two words read alike word by word."""
    texts = [f"{stem * (3 + i)} {stem * (30 + i)}" for i in range(12) for stem in ("a", "b")]
    labels = np.arange(len(texts)) % 2
    training = Training(texts, labels, texts, labels, 2, 1)
    assert len(set(fit_words(training)(texts).tolist())) == 1
    np.testing.assert_array_equal(fit_characters(training)(["aaaa aaaaaa", "bbbb bbbbbb"]), [0, 1])
