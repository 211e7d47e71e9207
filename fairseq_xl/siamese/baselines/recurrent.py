"""Bi-LSTM classifiers of words and of characters, trained with cross-entropy (after Barbieri et al. 2017).

The encoder is that of the Siamese classifier, so that what differs is the loss and what is read.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fairseq_xl.report.classification import confusion, macro_f1
from fairseq_xl.siamese.baselines import Classifier, Training
from fairseq_xl.siamese.models.encoder import EncoderSizes, SiameseEncoder
from fairseq_xl.text.ngrams import graphemes

PAD, UNKNOWN = 0, 1
SIZES = EncoderSizes(hidden_dim=128, dropout=0.3, unit_dropout=0.1, pooling="max", dense_order="relu_dense")
BATCH, MOST_EPOCHS, PATIENCE, LONGEST = 32, 20, 4, 256


def fit_words(data: Training) -> Classifier:
    """Words seen twice in training; others are unknown."""
    return _fit(data, lambda text: text.split(), 2)


def fit_characters(data: Training) -> Classifier:
    """Grapheme clusters, spaces included."""
    return _fit(data, graphemes, 1)


def padded(rows: Sequence[list[int]]) -> Tensor:
    """(N, T) with ``PAD`` at the ends."""
    out = torch.full((len(rows), max(map(len, rows))), PAD)
    for i, row in enumerate(rows):
        out[i, : len(row)] = torch.tensor(row)
    return out


def _fit(data: Training, units_of: Callable[[str], list[str]], minimum: int) -> Classifier:
    counts = Counter(unit for text in data.texts for unit in units_of(text))
    kept = sorted(unit for unit, count in counts.items() if count >= minimum)
    index = {unit: i for i, unit in enumerate(kept, start=2)}

    def encode(texts: Sequence[str]) -> list[list[int]]:
        return [[index.get(unit, UNKNOWN) for unit in units_of(text)[:LONGEST]] for text in texts]

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(data.seed)
        encoder = SiameseEncoder(len(index) + 2, PAD, UNKNOWN, SIZES)
        model = nn.ModuleList([encoder, nn.Linear(SIZES.sentence_dim, data.classes)]).to(device)

        def logits(rows: Sequence[list[int]]) -> Tensor:
            return model[1](model[0](padded(rows).to(device)))

        @torch.no_grad()
        def predict(texts: Sequence[str]) -> np.ndarray:
            model.eval()
            rows = encode(texts)
            order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
            chosen = np.empty(len(rows), dtype=np.int64)
            for start in range(0, len(order), 128):
                batch = order[start : start + 128]
                chosen[batch] = logits([rows[i] for i in batch]).argmax(1).cpu().numpy()
            return chosen

        _train(model, logits, encode(data.texts), data, predict)
    return predict


def _train(
    model: nn.Module,
    logits: Callable[[Sequence[list[int]]], Tensor],
    rows: list[list[int]],
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
            loss = F.cross_entropy(logits([rows[i] for i in batch]), target, weight)
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
