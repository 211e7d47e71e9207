"""The words of a sentence."""

from __future__ import annotations

import pytest

from fairseq_xl.pairs.data.tokenizer import Tokenizer


@pytest.mark.parametrize(
    ("tokenizer", "text", "words"),
    [
        (Tokenizer(), "¿Qué es ESTO?!", ["qué", "es", "esto"]),
        (Tokenizer(keep_case=True), "¿Qué es ESTO?!", ["Qué", "es", "ESTO"]),
        (Tokenizer(keep_punctuation=True), "¿Qué?!", ["¿", "qué", "?", "!"]),
        (Tokenizer(longest=2), "a, b c d", ["a", "b"]),
        (Tokenizer(), "don't e-mail 3.50 - ok'", ["don't", "e-mail", "3.50", "ok"]),
        (Tokenizer(), "cupo\u0301n", ["cupón"]),
        (Tokenizer(), "?!… ", []),
        (Tokenizer(), "日本 x_y", ["日本", "x", "y"]),
    ],
)
def test_words(tokenizer, text, words):
    assert tokenizer.words(text) == words
