"""What is tried: options that need a decoding of their own."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from fairseq_xl.io.settings import option
from fairseq_xl.text.subwords import SUBWORDS

SOFTMAX = "softmax"
"""The score of a model that predicts words, not vectors: only its sharpness can be changed."""
SHARPNESS = {
    "cosine": (5.0, 10.0, 20.0, 40.0, 80.0),
    "vmf_posterior": (0.25, 0.5, 1.0, 2.0, 4.0),
    SOFTMAX: (0.5, 1.0, 1.5, 2.0, 3.0),
}
"""What is tried of --decode-scale for the cosine, of --temperature for the others."""
CSLS_WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)
UNKPENS = (0.0, 1.0, 2.0, 3.0, 5.0)
"""What is tried of --unkpen."""


@dataclass(kw_only=True)
class Tuning:
    """What is translated to choose by, and within which limits."""

    split: str = option("split to choose by. Never give the test set", "valid")
    beam: int = option("size of the beam to choose for: that of the translations to come", 5, low=2, metavar="N")
    max_len_a: float = option(
        "as in fairseq, no output is longer than A times its source and B (fairseq's own defaults: 0 and 200)",
        1.5,
        low=0,
        high=1e6,
        metavar="A",
    )
    max_len_b: int = option("see --max-len-a", 5, low=1, metavar="B")
    post_process: str | None = option(
        "join the pieces of words, as fairseq-generate does, before BLEU and lengths are measured. Give it for models "
        "of subwords, or else their pieces are compared",
        None,
        choices=SUBWORDS,
    )
    limit: int | None = option(
        "only N sentences, spread evenly over the split, for a quicker and rougher choice", None, low=1, metavar="N"
    )
    batch_size: int = option("sentences translated at once. Lower it where memory runs out", 64, low=1, metavar="N")


@dataclass(frozen=True)
class Point:
    """Options that need a decoding of their own."""

    score: str
    scale: float
    temperature: float
    csls_weight: float
    beam: int
    prior: bool = False
    """Whether the model adds word frequencies (``--decode-prior-weight``) or a bias that was learnt for each word,
    which sharpness weighs against cosines."""
    unkpen: float = 0.0
    """What the score of ``<unk>`` loses."""

    @property
    def key(self) -> str:
        """Equal for points that give the same translations: greedy search sees the CSLS weight, and sharpness only
        through a prior or a penalty."""
        parts = []
        if self.beam > 1 or self.prior or self.unkpen:
            if self.score != SOFTMAX:
                parts.append(self.score)
            if self.score == "cosine":
                parts.append(f"scale {self.scale:g}")
            parts.append(f"temperature {self.temperature:g}")
        if self.score != SOFTMAX:
            parts.append(f"CSLS {self.csls_weight:g}")
        if self.unkpen:
            parts.append(f"unkpen {self.unkpen:g}")
        return ", ".join([*parts, f"beam {self.beam}"])


def sharpnesses(point: Point) -> list[Point]:
    """The point with every score that its model can have, and every sharpness of it."""
    change = {"cosine": "scale"}
    plain = {**asdict(point), "temperature": 1.0}
    return [
        Point(**{**plain, "score": score, change.get(score, "temperature"): value})
        for score, values in SHARPNESS.items()
        if (score == SOFTMAX) == (point.score == SOFTMAX)
        for value in values
    ]


def csls_weights(point: Point) -> list[Point]:
    """The point with every CSLS weight, which only vectors have."""
    weights = () if point.score == SOFTMAX else CSLS_WEIGHTS
    return [Point(**{**asdict(point), "csls_weight": weight}) for weight in weights]
