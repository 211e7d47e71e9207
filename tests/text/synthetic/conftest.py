"""A generated corpus and its pairs of sentences."""

from __future__ import annotations

import pytest

from fairseq_xl.text.synthetic import generator as synthetic
from fairseq_xl.text.synthetic.grammar import Pair


@pytest.fixture(scope="session")
def corpus() -> synthetic.Corpus:
    return synthetic.generate(seed=3, train=4000, valid=200, test=200, monolingual=2000)


@pytest.fixture(scope="session")
def pairs(corpus: synthetic.Corpus) -> list[Pair]:
    return corpus.train + corpus.valid + corpus.test
