"""Losses on vectors, and the scores of words that a vector gives: torch alone.

A decoder predicts a vector e, whose target is a vector u of unit length. Every loss is a function that gives one value
per row, and a module with a ``reduction``:

* of predictions and targets: ``cosine``, ``l2``, ``vmf``, ``vmf_released``, ``power_spherical``, ``syn_margin_proj``,
  ``syn_margin_diff``, and ``margin`` with given negatives. Targets of another length are refused, or scaled with
  ``target_norm="normalize"``.
* of predictions and words of a :class:`FrozenTable`, whose length is checked once: ``negative_sampling``,
  ``most_informative_negative``, ``in_batch_negative``, ``info_nce``, ``vmf_posterior``.

A training loop, where ``words`` (V, d) are vectors of words and ``index`` (N,) says which are the targets::

    targets = FrozenTable(words, target_norm="normalize")
    loss = SynMarginProjLoss(margin=0.5, target_norm="trust")  # the table's rows need no further check
    loss(model(x), targets(index)).backward()
    cosines, found = nearest(model(x), targets)
"""

from fairseq_xl.losses.base import ClosedFormLoss, TableLoss, TargetLoss, VectorLoss
from fairseq_xl.losses.bessel import mean_resultant_length, vmf_log_normalizer
from fairseq_xl.losses.closed_form import ClosedForm, Rows
from fairseq_xl.losses.distances import Cosine, CosineLoss, L2Loss, cosine, l2
from fairseq_xl.losses.likelihoods import InfoNCELoss, VmfPosteriorLoss, info_nce, vmf_posterior
from fairseq_xl.losses.margins import (
    InBatchLoss,
    MarginLoss,
    MostInformativeLoss,
    NegativeSamplingLoss,
    TableMarginLoss,
    in_batch_negative,
    margin,
    margin_rows,
    most_informative_negative,
    negative_sampling,
)
from fairseq_xl.losses.negatives import (
    Proposal,
    difference,
    in_batch_negative_words,
    most_informative_negative_words,
    projection,
    uniform_negative_words,
)
from fairseq_xl.losses.power_spherical import PowerSphericalLoss, power_spherical, power_spherical_log_normalizer
from fairseq_xl.losses.scores import (
    SCORES,
    Hubs,
    Scoring,
    TopWords,
    best_words,
    hubness,
    log_scores,
    nearest,
    top_of,
    top_words,
    word_bonus,
)
from fairseq_xl.losses.syn_margin import (
    SynMarginDiff,
    SynMarginDiffLoss,
    SynMarginProj,
    SynMarginProjLoss,
    syn_margin_diff,
    syn_margin_proj,
)
from fairseq_xl.losses.table import FrozenTable, unit_rows
from fairseq_xl.losses.vmf import Vmf, VmfLoss, VmfReleased, VmfReleasedLoss, vmf, vmf_released

LOSSES: dict[str, type[VectorLoss]] = {
    "cosine": CosineLoss,
    "l2": L2Loss,
    "vmf": VmfLoss,
    "vmf_released": VmfReleasedLoss,
    "power_spherical": PowerSphericalLoss,
    "syn_margin_proj": SynMarginProjLoss,
    "syn_margin_diff": SynMarginDiffLoss,
    "negative_sampling": NegativeSamplingLoss,
    "most_informative_negative": MostInformativeLoss,
    "in_batch_negative": InBatchLoss,
    "info_nce": InfoNCELoss,
    "vmf_posterior": VmfPosteriorLoss,
}
"""By name, those that need targets of a table and nothing else. ``MarginLoss`` is given its negatives, too."""

__all__ = [
    "LOSSES",
    "SCORES",
    "ClosedForm",
    "ClosedFormLoss",
    "Cosine",
    "CosineLoss",
    "FrozenTable",
    "Hubs",
    "InBatchLoss",
    "InfoNCELoss",
    "L2Loss",
    "MarginLoss",
    "MostInformativeLoss",
    "NegativeSamplingLoss",
    "PowerSphericalLoss",
    "Proposal",
    "Rows",
    "Scoring",
    "SynMarginDiff",
    "SynMarginDiffLoss",
    "SynMarginProj",
    "SynMarginProjLoss",
    "TableLoss",
    "TableMarginLoss",
    "TargetLoss",
    "TopWords",
    "VectorLoss",
    "Vmf",
    "VmfLoss",
    "VmfPosteriorLoss",
    "VmfReleased",
    "VmfReleasedLoss",
    "best_words",
    "cosine",
    "difference",
    "hubness",
    "in_batch_negative",
    "in_batch_negative_words",
    "info_nce",
    "l2",
    "log_scores",
    "margin",
    "margin_rows",
    "mean_resultant_length",
    "most_informative_negative",
    "most_informative_negative_words",
    "nearest",
    "negative_sampling",
    "power_spherical",
    "power_spherical_log_normalizer",
    "projection",
    "syn_margin_diff",
    "syn_margin_proj",
    "top_of",
    "top_words",
    "uniform_negative_words",
    "unit_rows",
    "vmf",
    "vmf_log_normalizer",
    "vmf_posterior",
    "vmf_released",
    "word_bonus",
]
