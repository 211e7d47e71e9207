"""What a model predicts word by word, when it translates or for a given translation, and which words are near.

Words are chosen by the cosine alone, so they differ from fairseq-generate's where decoding has a bias or a correction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from fairseq_xl.losses import nearest, negatives

Neighbours = list[tuple[str, float]]
"""Words with their cosines, nearest first."""

SYNTHETIC = {"projection": negatives.projection, "difference": negatives.difference}
"""The negatives that the syn-margin losses make of a prediction and its target."""


@dataclass
class Step:
    """One predicted word: its norm κ = ‖e‖, and the nearest words with their cosines, nearest first."""

    kappa: float
    neighbours: Neighbours


@dataclass
class TargetStep:
    """One word of a given translation: the words nearest to the prediction, and to both synthetic negatives of it.

    A negative that does not exist, as where the prediction points at the target, has none.
    """

    target: str
    prediction: Neighbours
    projection: Neighbours
    difference: Neighbours


@torch.no_grad()
def nearest_while_translating(model: Any, task: Any, sentence: str, k: int, max_length: int = 200) -> list[Step]:
    """Greedy translation by nearest neighbour, with each step's k nearest words (the first is the choice)."""
    dictionary, decoder = task.target_dictionary, model.decoder
    device = decoder.targets.table.device
    encoded = model.encoder(_numbers(task.source_dictionary, sentence, device))
    tokens = torch.tensor([[dictionary.eos()]], device=device)
    state: dict[str, Any] = {}
    steps: list[Step] = []
    while len(steps) < max_length:
        pred, _ = decoder(tokens, encoded, state)
        cosines, words = nearest(pred[0], decoder.targets, k)
        steps.append(Step(pred[0].norm().item(), *_named(cosines, words, dictionary)))
        tokens = torch.cat([tokens, words[:, :1]], 1)
        if tokens[0, -1].item() == dictionary.eos():
            break
    return steps


@torch.no_grad()
def nearest_of_targets(model: Any, task: Any, sentence: str, translation: str, k: int) -> list[TargetStep]:
    """Each word of ``translation``, which the decoder reads, with k neighbours of its prediction and of the negatives.

    These are the syn-margin paper's examples (section 5): what a negative is near to is what the loss pushes away.
    """
    dictionary, targets = task.target_dictionary, model.decoder.targets
    source = _numbers(task.source_dictionary, sentence, targets.table.device)
    words = _numbers(dictionary, translation, targets.table.device)
    read = torch.cat([words.new_tensor([[dictionary.eos()]]), words[:, :-1]], 1)
    (pred,), _ = model(source, torch.tensor([source.shape[1]], device=source.device), read)
    right = targets.table[words[0]]
    made = (make(pred, right) for make in SYNTHETIC.values())
    near = [neighbours(vectors, targets, dictionary, k) for vectors in (pred, *made)]
    names = [dictionary[word] for word in words[0].tolist()]
    return [TargetStep(*one) for one in zip(names, *near, strict=True)]


def neighbours(vectors: torch.Tensor, targets: Any, symbols: Any, k: int) -> list[Neighbours]:
    """Of each vector (N, d) the k nearest words, named by ``symbols``; none of a vector without a direction."""
    found = _named(*nearest(vectors, targets, k), symbols)
    return [row if vector.any() else [] for row, vector in zip(found, vectors, strict=True)]


def _numbers(dictionary: Any, line: str, device: torch.device) -> torch.Tensor:
    """(1, T) with the end of the sentence."""
    return dictionary.encode_line(line, add_if_not_exist=False).long().to(device).unsqueeze(0)


def _named(cosines: torch.Tensor, words: torch.Tensor, symbols: Any) -> list[Neighbours]:
    """Of each row (N, k)."""
    return [
        [(symbols[word], cosine) for word, cosine in zip(*row, strict=True)]
        for row in zip(words.tolist(), cosines.tolist(), strict=True)
    ]
