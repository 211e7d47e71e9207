"""How reference sentences decide: the options that every step that classifies has."""

from __future__ import annotations

from dataclasses import dataclass

from fairseq_xl.io.settings import GREATEST_SEED, option
from fairseq_xl.siamese.data.settings import SIDES

RULES = ("matches", "mean", "knn", "centroid")


@dataclass(kw_only=True)
class ReferenceVoting:
    """The rule, see :func:`reference_scores.reference_scores`, and the references.

    None: as in the training's validation.
    """

    rule: str | None = option(
        "matches: most references with a cosine above the threshold (the paper's); mean: highest mean cosine; knn: "
        "most of the nearest; centroid: nearest class mean",
        None,
        choices=RULES,
        shown="the --rule of the training, which its validation used",
    )
    threshold: float | None = option(
        "of a match, a cosine; usually the margin",
        None,
        low=-1,
        high=1,
        metavar="X",
        shown="the training's --match-threshold",
    )
    neighbours: int = option("of knn", 15, low=1, metavar="K")
    references: int | None = option(
        "of each class in a draw; a class with fewer gives all; the paper has 100",
        None,
        low=1,
        metavar="N",
        shown="the training's --references",
    )
    draws: int = option(
        "independent draws of references, whose scores are averaged; the paper has one", 5, low=1, metavar="N"
    )
    reference_side: str = option(
        "language of the references; auto: the training's --reference-side", "auto", choices=("auto", *SIDES)
    )
    reference_seed: int = option("of the draws", 1, low=0, high=GREATEST_SEED, metavar="N")
