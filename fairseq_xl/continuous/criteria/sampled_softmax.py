"""``--criterion sampled_softmax``: a softmax trained on the words of each batch and sampled ones.

No ``from __future__ import annotations`` here: fairseq reads the options' types to build its parser.
"""

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from fairseq.criterions import register_criterion
from fairseq.criterions.cross_entropy import CrossEntropyCriterion, CrossEntropyCriterionConfig
from torch import Tensor

from fairseq_xl.continuous.criteria.vmf_posterior import POWER_HELP, sampling_weights
from fairseq_xl.continuous.models.output import VectorOutput
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import option
from fairseq_xl.losses import Proposal
from fairseq_xl.training.finite import check_finite


@dataclass
class SampledSoftmaxConfig(CrossEntropyCriterionConfig):
    negatives: int = option(
        "sampled words, shared by the batch, that stand for those outside it: more where the validation loss lags "
        "behind that of cross_entropy",
        1000,
    )
    negatives_power: float = option(POWER_HELP, 0.75)


@register_criterion("sampled_softmax", dataclass=SampledSoftmaxConfig)
class SampledSoftmax(CrossEntropyCriterion):
    """Cross-entropy with an estimate of the normaliser, for the softmax of a model with ``--decoder-output softmax``.

    The words of the batch count exactly. A sampled word counts 1/π times, where π is how likely it was to be sampled
    (see :mod:`fairseq_xl.losses.likelihoods`). The loss of training is too low on average, as the logarithm of an
    estimate is. Validation sums over all words, so it compares with that of ``cross_entropy``. The optimiser still
    visits all rows of the matrix. Those of other words have a gradient of zero.

    Raises:
        InputError: the numbers make no distribution to sample from.
    """

    def __init__(self, task: Any, sentence_avg: bool, negatives: int, negatives_power: float):
        super().__init__(task, sentence_avg)
        if negatives < 1:
            raise InputError(f"--negatives is {negatives}: sampled_softmax needs 1 or more")
        self.negatives = negatives
        self.weights = sampling_weights(task.target_dictionary.count, negatives_power)
        self._proposal: Proposal | None = None

    def forward(self, model: Any, sample: dict[str, Any], reduce: bool = True) -> tuple[Tensor, Any, dict[str, Any]]:
        decoder = getattr(model, "decoder", None)
        if not isinstance(decoder, VectorOutput) or decoder.output_kind == "continuous":
            raise InputError(
                "criterion sampled_softmax trains the softmax of --arch continuous_lstm or continuous_transformer: "
                "give --decoder-output softmax or softmax_tied, too"
            )
        if not model.training:
            return super().forward(model, sample, reduce)
        target = model.get_targets(sample, None)
        is_word = target.ne(self.padding_idx)
        index = target[is_word]
        words, offset = self.proposal(index.device).with_batch(index, self.negatives)
        with decoder.scoring(words):
            logits, _ = model(**sample["net_input"])
        # The batch's words come first and sorted, and none is banned: a target's column is its place among them.
        column = index.unique(return_inverse=True)[1]
        rows = F.cross_entropy(logits[is_word].float() + offset.float(), column, reduction="none")
        loss = rows.sum() if reduce else rows
        check_finite(loss, sample)
        sample_size = target.size(0) if self.sentence_avg else sample["ntokens"]
        logged = {
            "loss": rows.detach().sum(),
            "ntokens": sample["ntokens"],
            "nsentences": target.size(0),
            "sample_size": sample_size,
        }
        return loss, sample_size, logged

    def proposal(self, device: torch.device) -> Proposal:
        """What words are sampled from: all, as decoding normalises over all, even padding."""
        if self._proposal is None or self._proposal.banned.device != device:
            self._proposal = Proposal(torch.zeros(self.weights.shape, dtype=torch.bool, device=device), self.weights)
        return self._proposal
