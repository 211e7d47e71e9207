"""Generation translates every sentence of the data, and no batch depends on another."""

from __future__ import annotations

import importlib
from contextvars import ContextVar
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fairseq_xl.compat.patching import Stock, loaded, replace

_COMMANDS = ("fairseq_cli.generate", "fairseq_cli.validate", "fairseq_cli.eval_lm")
# Set while one of these commands runs. Training and its validation stay as fairseq has them.
_evaluating: ContextVar[bool] = ContextVar("evaluating", default=False)


def evaluate_every_sentence() -> None:
    """Let ``fairseq-generate``, ``-validate`` and ``-eval-lm`` use the whole data set.

    Broken: ``batch_by_size`` drops the last batch unless its size is a multiple of ``--required-batch-size-multiple``,
    which is 8 by default. Up to 7 sentences then get no translation and are missing from the score. They are missing in
    training, too: that is left as it is. Of no sentences it takes the last batch, and ends in an IndexError.
    """
    from fairseq.data import data_utils

    @replace(data_utils, "batch_by_size")
    def batch_by_size(stock: Stock, indices: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(indices, np.ndarray):
            indices = np.fromiter(indices, dtype=np.int64)
        if len(indices) == 0:
            return []  # which fairseq says in its own words
        if not _evaluating.get():
            return stock(indices, *args, **kwargs)
        batches = stock(indices, *args, **kwargs)
        batched = sum(map(len, batches))
        if batched < len(indices):
            batches.append(indices[batched:])
        return batches

    def main(stock: Stock, *args: Any, **kwargs: Any) -> Any:
        before = _evaluating.set(True)
        try:
            return stock(*args, **kwargs)
        finally:
            _evaluating.reset(before)

    importlib.import_module("fairseq_cli.generate")
    for name in _COMMANDS:
        for module in loaded(name):
            replace(module, "main")(main)


def force_words_without_score() -> None:
    """Let ``--prefix-size`` begin a translation with a word that the model never says, such as one without a vector.

    Broken: the forced word keeps its score of −inf, so that no hypothesis is left, and the search ends in an
    AssertionError. Such a word scores 0 instead. All hypotheses of the sentence have it, so none gains by that.
    """
    from fairseq.sequence_generator import SequenceGenerator

    @replace(SequenceGenerator, "_prefix_tokens")
    def _prefix_tokens(
        stock: Stock,
        self: Any,
        step: int,
        lprobs: Tensor,
        scores: Tensor,
        tokens: Tensor,
        prefix_tokens: Tensor,
        beam_size: int,
    ) -> tuple[Tensor, Tensor, Tensor]:
        forced = prefix_tokens[:, step].repeat_interleave(beam_size).unsqueeze(1)
        score = lprobs.gather(1, forced)
        unsaid = forced.ne(self.pad) & score.eq(-torch.inf)
        lprobs.scatter_(1, forced, score.masked_fill(unsaid, 0.0))
        return stock(self, step, lprobs, scores, tokens, prefix_tokens, beam_size)


def count_diversity_by_place() -> None:
    """Let ``--diverse-beam-groups`` translate data sets of more than one batch.

    Broken: ``DiverseBeamSearch`` keeps one row of overlaps for each sentence of a batch, in the batch's order. It looks
    them up by the sentences' numbers in the data set. The first batch therefore gets other sentences' overlaps, and
    later ones end in an IndexError. Without numbers the generator counts the places itself. The replaced function is
    ``generate`` and not ``_generate``, because scripted generators do not use it.
    """
    from fairseq.search import DiverseBeamSearch
    from fairseq.sequence_generator import SequenceGenerator, SequenceGeneratorWithAlignment

    def generate(stock: Stock, self: Any, models: Any, sample: dict[str, Any], **kwargs: Any) -> Any:
        if isinstance(self.search, DiverseBeamSearch):
            sample = {key: value for key, value in sample.items() if key != "id"}
        return stock(self, models, sample, **kwargs)

    for owner in (SequenceGenerator, SequenceGeneratorWithAlignment):
        replace(owner, "generate")(generate)
