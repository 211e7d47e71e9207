"""Diverse beam search over more than one batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fairseq_xl.compat.patching import replace


def count_diversity_by_place() -> None:
    """Let ``--diverse-beam-groups`` translate data sets of more than one batch.

    Broken: ``DiverseBeamSearch`` keeps one row of overlaps for each sentence of a batch, in the batch's order, and
    looks them up by the sentences' numbers in the data set: an IndexError from the second batch on, other sentences'
    overlaps before. Without numbers the generator counts the places itself. ``generate``, not ``_generate``, is what
    is replaced, for generators that are scripted do not use it.
    """
    from fairseq.search import DiverseBeamSearch
    from fairseq.sequence_generator import SequenceGenerator, SequenceGeneratorWithAlignment

    def mend(stock: Callable[..., Any]) -> Callable[..., Any]:
        def generate(self: Any, models: Any, sample: dict[str, Any], **kwargs: Any) -> Any:
            if isinstance(self.search, DiverseBeamSearch):
                sample = {key: value for key, value in sample.items() if key != "id"}
            return stock(self, models, sample, **kwargs)

        return generate

    for owner in (SequenceGenerator, SequenceGeneratorWithAlignment):
        replace(owner, "generate", mend)
