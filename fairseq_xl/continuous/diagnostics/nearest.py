"""What a model predicts word by word when it translates, and which words are near.

Words are chosen by the cosine alone, so they differ from fairseq-generate's where decoding has a bias or a correction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from fairseq_xl.losses import nearest


@dataclass
class Step:
    """One predicted word: its norm κ = ‖e‖, and the nearest words with their cosines, nearest first."""

    kappa: float
    neighbours: list[tuple[str, float]]


@torch.no_grad()
def nearest_while_translating(model: Any, task: Any, sentence: str, k: int, max_length: int = 200) -> list[Step]:
    """Greedy translation by nearest neighbour, with each step's k nearest words (the first is the choice)."""
    dictionary, decoder = task.target_dictionary, model.decoder
    device = decoder.targets.table.device
    source = task.source_dictionary.encode_line(sentence, add_if_not_exist=False).long().to(device)
    encoded = model.encoder(source.unsqueeze(0))
    tokens = torch.tensor([[dictionary.eos()]], device=device)
    state: dict[str, Any] = {}
    steps: list[Step] = []
    while len(steps) < max_length:
        pred, _ = decoder(tokens, encoded, state)
        cosines, words = nearest(pred[0], decoder.targets, k)
        names = [dictionary[w] for w in words[0].tolist()]
        steps.append(Step(pred[0].norm().item(), list(zip(names, cosines[0].tolist(), strict=True))))
        tokens = torch.cat([tokens, words[:, :1]], 1)
        if tokens[0, -1].item() == dictionary.eos():
            break
    return steps
