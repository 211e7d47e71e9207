"""What a diagnosis measures; apart from the measuring, which needs torch, so that ``--help`` does not."""

from __future__ import annotations

from dataclasses import dataclass

from fairseq_xl.io.settings import GREATEST_SEED, option


@dataclass(kw_only=True)
class Settings:
    """What to measure."""

    split: str = option("split to measure on", "valid")
    words: list[str] = option(
        "target words for which to list what is near their predictions and synthetic negatives", [], metavar="WORD"
    )
    top: int = option("neighbours in these lists, and for counting hubs", 10, alias="-k", low=1, metavar="N")
    negatives: int = option("uniform negatives sampled at each position; the paper has 5", 5, low=1)
    seed: int = option("of these samples", 1, low=0, high=GREATEST_SEED)
    max_tokens: int = option("tokens in a batch: lower it when memory runs out", 4000, low=1)
