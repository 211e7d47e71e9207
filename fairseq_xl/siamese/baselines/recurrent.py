"""Bi-LSTM classifiers of words and of characters, trained with cross-entropy (after Barbieri et al. 2017).

The encoder of sentences is that of the Siamese classifier, so that what differs is the loss and what is read. As in the
paper, the one of characters composes each word's vector from its letters, and reads the sentence word by word.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from fairseq_xl.modules.recurrent import BidirectionalLSTM
from fairseq_xl.report.classification import confusion, macro_f1
from fairseq_xl.siamese.baselines import Classifier, Training
from fairseq_xl.siamese.models.encoder import EncoderSizes, SiameseEncoder
from fairseq_xl.text.ngrams import graphemes

PAD, UNKNOWN = 0, 1
SIZES = EncoderSizes(hidden_dim=128, dropout=0.3, unit_dropout=0.1, pooling="max", dense_order="relu_dense")
BATCH, MOST_EPOCHS, PATIENCE, LONGEST = 32, 20, 4, 256
LETTER_DIM, LONGEST_WORD = 50, 80
"""Of a grapheme cluster's vector, and clusters of a word. All words of a batch are padded to its longest, such as an
address."""


def fit_words(data: Training) -> Classifier:
    """Words seen twice in training; others are unknown."""
    index = _index(Counter(word for text in data.texts for word in text.split()), 2)

    def encode(text: str) -> list[int]:
        return [index.get(word, UNKNOWN) for word in text.split()[:LONGEST]] or [UNKNOWN]

    return _fit(data, encode, lambda: WordEncoder(len(index) + 2))


def fit_characters(data: Training) -> Classifier:
    """Words composed of their grapheme clusters, of which a word may have any."""
    index = _index(Counter(letter for text in data.texts for word in text.split() for letter in graphemes(word)), 1)

    def encode(text: str) -> list[tuple[int, ...]]:
        spelt = (graphemes(word)[:LONGEST_WORD] for word in text.split()[:LONGEST])
        return [tuple(index.get(letter, UNKNOWN) for letter in word) for word in spelt] or [(UNKNOWN,)]

    return _fit(data, encode, lambda: CharacterEncoder(len(index) + 2))


def _index(counts: Counter[str], minimum: int) -> dict[str, int]:
    kept = sorted(unit for unit, count in counts.items() if count >= minimum)
    return {unit: i for i, unit in enumerate(kept, start=2)}


class WordEncoder(nn.Module):
    """Sentences (N, d) from the numbers of their words."""

    def __init__(self, vocabulary: int):
        super().__init__()
        self.sentence = SiameseEncoder(vocabulary, PAD, UNKNOWN, SIZES)

    def forward(self, rows: Sequence[list[int]]) -> Tensor:
        return self.sentence(padded(rows).to(self.sentence.dense.weight.device))


class CharacterEncoder(nn.Module):
    """Sentences (N, d) from the letters of their words: a Bi-LSTM's last states are a word's vector (Ling et al. 2015).

    A word that a batch has more than once is composed once. A word that is dropped in training is read as one unknown
    letter. The embeddings of ``sentence`` itself are not used.
    """

    def __init__(self, letters: int):
        super().__init__()
        self.letters = nn.Embedding(letters, LETTER_DIM, PAD)
        self.word = BidirectionalLSTM(LETTER_DIM, SIZES.embed_dim)
        self.sentence = SiameseEncoder(UNKNOWN + 1, PAD, UNKNOWN, SIZES)

    def forward(self, rows: Sequence[list[tuple[int, ...]]]) -> Tensor:
        device = self.letters.weight.device
        places: dict[tuple[int, ...], int] = {(PAD,): PAD, (UNKNOWN,): UNKNOWN}
        words = padded([[places.setdefault(word, len(places)) for word in row] for row in rows]).to(device)
        if self.training:
            lost = torch.rand(words.shape, device=device) < SIZES.unit_dropout
            words = words.masked_fill(lost & words.ne(PAD), UNKNOWN)
        spelt = padded([list(word) for word in places]).to(device)
        _, final = self.word(self.letters(spelt).transpose(0, 1), spelt.ne(PAD).sum(1).clamp(min=1))
        return self.sentence.of_places(final[-1][words].transpose(0, 1), words.ne(PAD).sum(1))


def padded(rows: Sequence[list[int]]) -> Tensor:
    """(N, T) with ``PAD`` at the ends."""
    return pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=PAD)


def _fit(data: Training, encode: Callable[[str], list[Any]], make: Callable[[], nn.Module]) -> Classifier:
    """Train the encoder that ``make`` makes of what ``encode`` gives of a sentence, with a linear layer on top."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(data.seed)
        model = nn.Sequential(make(), nn.Linear(SIZES.sentence_dim, data.classes)).to(device)

        @torch.no_grad()
        def predict(texts: Sequence[str]) -> np.ndarray:
            model.eval()
            rows = [encode(text) for text in texts]
            order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
            chosen = np.empty(len(rows), dtype=np.int64)
            for start in range(0, len(order), 128):
                batch = order[start : start + 128]
                chosen[batch] = model([rows[i] for i in batch]).argmax(1).cpu().numpy()
            return chosen

        _train(model, [encode(text) for text in data.texts], data, predict)
    return predict


def _train(
    model: nn.Module,
    rows: Sequence[list[Any]],
    data: Training,
    predict: Classifier,
) -> None:
    """Adam until macro-F1 on the development texts has not risen for some epochs; the best epoch's weights stay."""
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    random = np.random.default_rng(data.seed)
    rarity = 1 / np.maximum(np.bincount(data.labels, minlength=data.classes), 1)
    weight = torch.tensor(rarity / rarity.mean(), dtype=torch.float, device=next(model.parameters()).device)
    best, best_state, since = -1.0, copy.deepcopy(model.state_dict()), 0
    for _ in range(MOST_EPOCHS):
        model.train()
        order = random.permutation(len(rows))
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            target = torch.from_numpy(data.labels[batch]).to(weight.device)
            loss = F.cross_entropy(model([rows[i] for i in batch]), target, weight)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimiser.step()
        score = macro_f1(confusion(data.valid_labels, predict(data.valid_texts), data.classes))
        since += 1
        if score > best:
            best, best_state, since = score, copy.deepcopy(model.state_dict()), 0
        if since == PATIENCE:
            break
    model.load_state_dict(best_state)
