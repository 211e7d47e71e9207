"""``--criterion vmf_posterior``: the likelihood of the words under the distribution that vMF models are decoded by.

No ``from __future__ import annotations`` here: fairseq reads the options' types to build its parser.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from fairseq_xl.continuous.criteria.criterion import ContinuousCriterion, ContinuousCriterionConfig, register
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import option
from fairseq_xl.losses import VmfPosteriorLoss

POWER_HELP = (
    "a word is sampled in proportion to its count in the dictionary to this power: 0 is uniform, 1 by frequency"
)


@dataclass
class VmfPosteriorConfig(ContinuousCriterionConfig):
    negatives: int = option(
        "sampled words, shared by the batch, that stand for those outside it. 0 sums over all words, which is exact. "
        "Sample where that takes most of a step, from some 10,000 words on",
        0,
    )
    negatives_power: float = option(POWER_HELP, 0.0)
    label_smoothing: float = option(
        "share of each target's probability that all words share: raise it where the validation loss rises again "
        "while the training loss falls",
        0.0,
    )


def sampling_weights(counts: Sequence[int], power: float) -> Tensor:
    """(V,) what words are sampled in proportion to: their counts, 1 at least, to ``power``.

    Raises:
        InputError: the power is below 0, or so large that a weight is infinite.
    """
    weights = torch.tensor(counts, dtype=torch.float64).clamp_min(1) ** power
    if not (power >= 0 and weights.isfinite().all()):
        raise InputError(f"--negatives-power is {power:g}: give a number from 0, such as 0.75")
    return weights


@register("vmf_posterior", VmfPosteriorConfig)
class VmfPosterior(ContinuousCriterion):
    """−log p(w), where p(v) ∝ exp(eᵀu_v) over the frozen table: a softmax whose matrix is the table.

    Validation sums over all words and smooths nothing. Its loss is therefore the likelihood in nats per word.
    """

    def __init__(self, task: Any, sentence_avg: bool, negatives: int, negatives_power: float, label_smoothing: float):
        weights = None
        if negatives_power and not negatives:
            raise InputError(f"--negatives-power {negatives_power:g} says how words are sampled: give --negatives, too")
        if negatives_power:
            weights = sampling_weights(task.target_dictionary.count, negatives_power)
        # The trainer seeds torch's global generator from --seed and the update, so draws survive a resume.
        try:
            loss = VmfPosteriorLoss(label_smoothing, negatives, weights)
        except ValueError as error:
            raise InputError(f"--criterion vmf_posterior: {error}") from None
        super().__init__(task, sentence_avg, loss)
