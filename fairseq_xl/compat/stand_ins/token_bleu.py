"""The counts of ``--scoring bleu`` in Python, for installations without ``fairseq.libbleu``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from fairseq_xl.compat.patching import Stock, replace

_NO_TOKEN = -999  # what an unknown word of the reference becomes, so that nothing matches it
_ORDERS = (1, 2, 3, 4)


def supply_token_bleu() -> None:
    """Count n-grams in Python where the compiled library is absent.

    Broken: ``bleu`` over token numbers is the default of ``--scoring``, so without a compiler
    ``fairseq-generate`` fails after translating unless another scorer is named. Scores are equal.
    """
    try:
        from fairseq import libbleu  # noqa: F401
    except ImportError:
        from fairseq.scoring.bleu import BleuStat, Scorer
    else:
        return

    @replace(Scorer, "__init__")
    def __init__(stock: Stock, self: Any, cfg: Any) -> None:
        self.pad, self.eos, self.unk = cfg.pad, cfg.eos, cfg.unk
        self.reset()

    @replace(Scorer, "reset")
    def reset(stock: Stock, self: Any, one_init: bool = False) -> None:
        self.stat = BleuStat()
        if one_init:  # smoothed: as if one n-gram of each longer order had matched
            for order in _ORDERS[1:]:
                setattr(self.stat, f"count{order}", 1)
                setattr(self.stat, f"match{order}", 1)

    @replace(Scorer, "add")
    def add(stock: Stock, self: Any, ref: Tensor, pred: Tensor) -> None:
        for name, tokens in (("ref", ref), ("pred", pred)):
            if not isinstance(tokens, torch.IntTensor):
                raise TypeError(f"{name} must be a torch.IntTensor (got {type(tokens)})")
        known = ref.masked_fill(ref.eq(self.unk), _NO_TOKEN)
        count(
            self.stat,
            trimmed(known.flatten().tolist(), self.pad, self.eos),
            trimmed(pred.flatten().tolist(), self.pad, self.eos),
        )


def count(stat: Any, reference: Sequence[int], prediction: Sequence[int]) -> None:
    """Add one sentence's lengths, n-grams and clipped matches to ``stat``."""
    stat.reflen += len(reference)
    stat.predlen += len(prediction)
    for order in _ORDERS:
        predicted = _ngrams(prediction, order)
        matches = (predicted & _ngrams(reference, order)).total()
        setattr(stat, f"count{order}", getattr(stat, f"count{order}") + predicted.total())
        setattr(stat, f"match{order}", getattr(stat, f"match{order}") + matches)


def trimmed(tokens: list[int], pad: int, eos: int) -> list[int]:
    """The tokens without padding at the beginning, and without padding and ends of sentence at the end."""
    start = 0
    while start < len(tokens) and tokens[start] == pad:
        start += 1
    end = len(tokens)
    while end - start > 1 and tokens[end - 1] in (pad, eos):
        end -= 1
    return tokens[start:end]


def _ngrams(tokens: Sequence[int], order: int) -> Counter[tuple[int, ...]]:
    return Counter(tuple(tokens[i : i + order]) for i in range(len(tokens) - order + 1))
