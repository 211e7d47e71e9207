"""How often each word of a dictionary stands in text."""

import numpy as np
import pytest
from fairseq.data import Dictionary

from fairseq_xl.vectors.targets import log_frequency


def test_shares_of_words_of_the_end_of_sentence_and_of_unknown_words():
    """The end is as frequent as the most frequent word; of unknown words the dictionary knows no number."""
    words = Dictionary()
    for word, count in (("a", 6), ("b", 2), ("c", 0)):
        words.add_symbol(word, count)
    words.count[words.unk()] = 9
    share = dict(zip(words.symbols, np.exp(log_frequency(words)), strict=True))
    assert sum(share.values()) == pytest.approx(1)
    assert share["</s>"] == pytest.approx(share["a"])
    assert share["a"] == pytest.approx(3 * share["b"])
    assert share["b"] == pytest.approx(2 * share["c"])
    assert share["<unk>"] == pytest.approx(share["c"])
