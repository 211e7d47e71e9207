"""Is one system better than another: on the test set's sentences for one seed, and over seeds."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import scipy.stats
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.significance import PairedTest, Result

from fairseq_xl.io.atomic import write_json
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import loads

LEVEL = 0.05
METHODS = {"ar": "paired approximate randomisation", "bs": "paired bootstrap resampling"}


def sentences_differ(
    baseline: Sequence[str],
    system: Sequence[str],
    references: Sequence[str],
    metric: str = "BLEU",
    method: str = "ar",
    samples: int = 0,
    tokenize: str = "13a",
) -> float:
    """p-value of sacreBLEU's paired test that two systems' corpus scores are equal, for one run of each.

    Args:
        method: ``ar``, approximate randomisation (Riezler & Maxwell 2005), or ``bs``, bootstrap (Koehn 2004).
        samples: trials; 0: sacreBLEU's own number (10,000 for ar, 1,000 for bs).
        tokenize: sacreBLEU's tokeniser, for BLEU: that of the scores beside it.

    Raises:
        ValueError: unequal numbers of sentences.
    """
    if not len(baseline) == len(system) == len(references):
        raise ValueError("baseline, system and references have unequal numbers of sentences")
    own = [list(references)]
    chosen = BLEU(references=own, tokenize=tokenize) if metric == "BLEU" else CHRF(references=own)
    scores = [chosen.corpus_score(list(texts), None).score for texts in (baseline, system)]
    if scores[0] == scores[1]:
        return 1.0  # sacreBLEU counts trials that differ by more than the systems do, and would find p near 0
    test = PairedTest(
        [("baseline", list(baseline)), ("system", list(system))],
        {metric: chosen},
        references=None,
        test_type=method,
        n_samples=samples,
    )
    _, found = test()
    compared = found[metric][1]
    if not isinstance(compared, Result) or compared.p_value is None:
        raise RuntimeError(f"sacreBLEU's paired test gave no p-value for {metric}: {compared}")
    if method == "bs":
        return compared.p_value
    # There are 2^n ways to swap n translations that differ. The one seen and its mirror image are as extreme as what
    # was seen. SacreBLEU counts only those that are more extreme, and there is none for a handful.
    differing = sum(one != other for one, other in zip(baseline, system, strict=True))
    return max(compared.p_value, 2.0 ** (1 - differing))


def seeds_differ(baseline: Sequence[float], system: Sequence[float]) -> float | None:
    """p-value of Welch's t-test that two systems' mean scores over seeds are equal; None below two seeds each.

    Where neither varies at all, 1 for equal scores and 0 otherwise.
    """
    if min(len(baseline), len(system)) < 2:
        return None
    if np.ptp(baseline) == 0 and np.ptp(system) == 0:
        return float(baseline[0] == system[0])
    p = scipy.stats.ttest_ind(system, baseline, equal_var=False).pvalue
    return None if math.isnan(p) else float(p)


class KeptTests:
    """p-values over sentences, in a file, by what they were computed from: 10,000 trials take a while."""

    def __init__(self, path: Path):
        self.path = path
        self.values: dict[str, float] = {}
        if path.is_file():
            try:
                self.values = dict(loads(path.read_text(encoding="utf-8")))
            except (ValueError, TypeError):
                raise InputError(f"{path} is damaged: remove it, its tests will be computed again") from None

    def sentences_differ(self, *arguments: object) -> float:
        """:func:`sentences_differ`, computed once."""
        key = hashlib.sha256(json.dumps(arguments).encode()).hexdigest()
        if key not in self.values:
            self.values[key] = sentences_differ(*arguments)  # type: ignore[arg-type]
            write_json(self.path, self.values)
        return self.values[key]
