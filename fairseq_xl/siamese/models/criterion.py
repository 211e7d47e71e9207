"""``--criterion contrastive``: the paper's loss in training, macro-F1 in validation.

No ``from __future__ import annotations`` here: fairseq reads the options' types to build its parser.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from fairseq.criterions import FairseqCriterion, register_criterion
from fairseq.dataclass import FairseqDataclass
from fairseq.logging import metrics
from torch import Tensor

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import option
from fairseq_xl.siamese.models.contrastive import all_pairs, contrastive, unit
from fairseq_xl.siamese.models.reference_scores import reference_scores
from fairseq_xl.training.finite import check_finite


@dataclass
class ContrastiveConfig(FairseqDataclass):
    margin: float = option(
        "cosine that sentences of different classes may have, from 0 to 1: lower drives classes farther apart and "
        "fits more closely",
        0.5,
    )
    all_pairs: bool = option(
        "compare every two sentences of a batch instead of the drawn pairs alone; pairs of one class and of two weigh "
        "the same in sum. Costs next to nothing and learns faster",
        False,
    )
    class_weight: float = option(
        "weight of a joint classification loss (needs --class-head). While classes are still mixed, the pull and the "
        "push of pairs cancel, and this loss gives a direction. The paper has none: 0",
        0.0,
    )


@register_criterion("contrastive", dataclass=ContrastiveConfig)
class ContrastiveCriterion(FairseqCriterion):
    """The loss over a batch's pairs; validation compares sentences with the task's references.

    ``forward`` returns the paper's sum and, as its sample size, the number of pairs, by which fairseq divides the
    gradient. Training therefore minimises the mean over a batch, and learning rates do not depend on the batch's size.
    """

    def __init__(self, task: Any, margin: float, all_pairs: bool = False, class_weight: float = 0.0):
        super().__init__(task)
        if class_weight < 0:
            raise InputError(f"--class-weight is a number from 0, not {class_weight}")
        self.all_pairs, self.class_weight = all_pairs, class_weight
        if not 0 <= margin <= 1:
            raise InputError(f"--margin is a cosine from 0 to 1, not {margin}")
        self.margin = margin

    def forward(self, model: Any, sample: dict[str, Any], reduce: bool = True) -> tuple[Tensor, Any, dict[str, Any]]:
        if not {"left", "references"} & sample.keys():
            raise InputError(
                "criterion contrastive compares sentences of known classes: give --task siamese_contrastive"
            )
        raw = model(**sample["net_input"])
        vectors = unit(raw)
        if "references" in sample:
            return self._validate(vectors, sample)
        cosine = (vectors[sample["left"]] * vectors[sample["right"]]).sum(-1)
        same = sample["same"]
        rows = contrastive(cosine, same, self.margin)
        if self.all_pairs:
            # On the scale of the sum over the drawn pairs, so that learning rates carry over.
            rows = all_pairs(vectors, sample["target"], self.margin).expand_as(rows)
        if self.class_weight:
            if getattr(model, "head", None) is None:
                raise InputError("--class-weight needs a model with --class-head")
            rows = rows + self.class_weight * F.cross_entropy(model.head(raw).float(), sample["target"])
        loss = rows.sum() if reduce else rows
        if model.training:
            check_finite(loss, sample)
        with torch.no_grad():
            logged = {
                **self._sizes(sample),
                "loss": rows.detach().sum(),
                "same": same.sum(),
                "cosine_same": cosine[same].sum(),
                "cosine_other": cosine[~same].sum(),
            }
        return loss, len(rows), logged

    def _validate(self, vectors: Tensor, sample: dict[str, Any]) -> tuple[Tensor, int, dict[str, Any]]:
        """The mean loss of each sentence against all references, and the confusion matrix of the rule."""
        given = sample["references"]
        target, classes = sample["target"], given["classes"]
        cosine = vectors @ given["vectors"].t()
        same = target.unsqueeze(1) == given["labels"]
        loss = contrastive(cosine, same, self.margin).mean(1).sum()
        scores = reference_scores(
            vectors, given["vectors"], given["labels"], classes, given["rule"], given["threshold"]
        )
        pairs = target * classes + scores.argmax(1)
        confusion = F.one_hot(pairs, classes * classes).sum(0).float()
        return loss, len(target), {**self._sizes(sample), "loss": loss, "confusion": confusion}

    @staticmethod
    def _sizes(sample: dict[str, Any]) -> dict[str, Any]:
        return {"ntokens": sample["ntokens"], "nsentences": sample["nsentences"], "sample_size": sample["nsentences"]}

    @classmethod
    def reduce_metrics(cls, logging_outputs: list[dict[str, Any]]) -> None:
        def total(key: str) -> float:
            return float(sum(log.get(key, 0) for log in logging_outputs))

        size = max(total("sample_size"), 1)
        metrics.log_scalar("loss", total("loss") / size, size, round=4)
        if any("same" in log for log in logging_outputs):
            same = total("same")
            for name, count in (("cosine_same", same), ("cosine_other", size - same)):
                if count:
                    metrics.log_scalar(name, total(name) / count, count, round=3)
        if any("confusion" in log for log in logging_outputs):
            counts = sum(log["confusion"] for log in logging_outputs if "confusion" in log)
            metrics.log_scalar_sum("_confusion", counts.double().cpu().numpy())
            metrics.log_derived("macro_f1", lambda meters: 100 * _from_counts(meters["_confusion"].sum)[0], 20)
            metrics.log_derived("accuracy", lambda meters: 100 * _from_counts(meters["_confusion"].sum)[1], 20)

    @staticmethod
    def logging_outputs_can_be_summed() -> bool:
        return True


def _from_counts(confusion: np.ndarray) -> tuple[float, float]:
    """Macro-F1 and accuracy of a flattened confusion matrix (C·C,), rows the true classes."""
    from fairseq_xl.report.classification import macro_f1

    classes = round(len(confusion) ** 0.5)
    matrix = confusion.reshape(classes, classes)
    return macro_f1(matrix), float(matrix.trace() / max(matrix.sum(), 1))
