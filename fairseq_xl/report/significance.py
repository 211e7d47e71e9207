"""Is one system better than another: on the test set's sentences for one seed, and over seeds."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import sacrebleu
import scipy.stats
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.significance import PairedTest, Result

from fairseq_xl.io.atomic import write_json
from fairseq_xl.io.json_files import opened_json
from fairseq_xl.report.bootstrap import drawn_runs, interval

LEVEL = 0.05
SEED = 12345
"""Of the draws, as in sacreBLEU's bootstrap."""
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


def difference_interval(
    baseline: Sequence[Sequence[str]],
    system: Sequence[Sequence[str]],
    references: Sequence[str],
    metric: str = "BLEU",
    samples: int = 0,
    tokenize: str = "13a",
) -> tuple[float, float]:
    """95 % bootstrap interval of the difference of two systems' mean scores, over sentences and runs.

    A draw takes the same sentences for all runs (Koehn 2004), and some runs of each system.

    Args:
        baseline, system: translations of each run.
        references: of all of them.
        metric, samples, tokenize: as :func:`sentences_differ` has them, for a bootstrap.

    Raises:
        ValueError: unequal numbers of sentences.
    """
    own = [list(references)]
    chosen = BLEU(references=own, tokenize=tokenize) if metric == "BLEU" else CHRF(references=own)
    if any(len(texts) != len(references) for texts in (*baseline, *system)):
        raise ValueError("baseline, system and references have unequal numbers of sentences")
    counts = [
        np.stack([np.array(chosen._extract_corpus_statistics(list(texts), None)) for texts in runs])
        for runs in (baseline, system)
    ]
    random = np.random.default_rng(SEED)
    found = np.empty(samples or 1000)
    for place in range(len(found)):
        drawn = random.integers(len(references), size=len(references))
        means = [
            np.mean(
                [
                    chosen._compute_score_from_stats(runs[run, drawn].sum(0).tolist()).score
                    for run in drawn_runs(random, len(runs))
                ]
            )
            for runs in counts
        ]
        found[place] = means[1] - means[0]
    return interval(found)


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


SCHEME = 2
"""To be raised when a test computes something else of the same arguments: what was kept no longer counts."""


class KeptTests:
    """Tests over sentences, in a file, by what they were computed from: 10,000 trials take a while."""

    def __init__(self, path: Path):
        self.path = path
        self.values: dict[str, Any] = {}
        if path.is_file():
            with opened_json(path, "file of kept tests", "remove it, its tests will be computed again") as found:
                self.values = dict(found)

    def sentences_differ(self, *arguments: object) -> float:
        """:func:`sentences_differ`, computed once."""
        return float(self._kept(arguments, lambda: sentences_differ(*arguments)))  # type: ignore[arg-type]

    def difference_interval(self, *arguments: object) -> tuple[float, float]:
        """:func:`difference_interval`, computed once."""
        low, high = self._kept(("interval", *arguments), lambda: difference_interval(*arguments))  # type: ignore[arg-type]
        return low, high

    def _kept(self, of: tuple[object, ...], test: Callable[[], Any]) -> Any:
        key = hashlib.sha256(json.dumps([SCHEME, sacrebleu.__version__, of]).encode()).hexdigest()
        if key not in self.values:
            self.values[key] = test()
            write_json(self.path, self.values)
        return self.values[key]
