"""What every baseline learns from."""

from __future__ import annotations

import pytest
from telling_words import sentences

from fairseq_xl.siamese.baselines import Training


@pytest.fixture(scope="module")
def data():
    texts, labels = sentences(360, 1)
    more, _ = sentences(2000, 2)
    training = Training(texts[:240], labels[:240], texts[240:300], labels[240:300], 2, 1, more)
    return training, texts[300:], labels[300:]
