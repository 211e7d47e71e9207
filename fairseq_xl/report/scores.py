"""Table 1: scores over seeds, and which differences mean something."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from tqdm import tqdm

from fairseq_xl.report.runs import Run, by_system
from fairseq_xl.report.significance import LEVEL, METHODS, KeptTests, seeds_differ
from fairseq_xl.report.tables import Table

METRICS = ("BLEU", "chrF2")


def spread(values: Sequence[float], digits: int = 1) -> str:
    """Mean ± standard deviation (of a sample), or the value alone."""
    mean = f"{statistics.mean(values):.{digits}f}"
    return mean if len(values) == 1 else f"{mean} ± {statistics.stdev(values):.{digits}f}"


def comparisons(
    runs: Sequence[Run],
    baselines: Sequence[str],
    beam: int,
    tests: KeptTests,
    metric: str = "BLEU",
    method: str = "ar",
    samples: int = 0,
    shown: bool = False,
) -> list[dict[str, Any]]:
    """Each system against each baseline: difference of means, p over seeds, and p by sentences for each seed
    that both have.

    ``method`` and ``samples`` are those of :func:`significance.sentences_differ`.
    """
    groups = by_system(runs)
    pairs = [(b, s) for b in baselines if b in groups for s in groups if s != b]
    made = []
    for baseline, system in tqdm(pairs, desc="paired tests", disable=not shown, delay=1):
        ours = {run.seed: run for run in groups[system]}
        theirs = {run.seed: run for run in groups[baseline]}
        scores = [[run.score(beam, metric) for run in group] for group in (groups[baseline], groups[system])]
        by_seed = {
            seed: tests.sentences_differ(
                theirs[seed].hypotheses(beam),
                ours[seed].hypotheses(beam),
                ours[seed].references(),
                metric,
                method,
                samples,
            )
            for seed in ours
            if seed in theirs
        }
        made.append(
            {
                "baseline": baseline,
                "system": system,
                "metric": metric,
                "beam": beam,
                "difference": statistics.mean(scores[1]) - statistics.mean(scores[0]),
                "p_seeds": seeds_differ(*scores),
                "p_sentences": by_seed,
                "method": METHODS[method],
            }
        )
    return made


def marks(compared: Mapping[str, Any], sign: str) -> str:
    """``sign`` where the test over seeds finds a difference; and the share of seeds whose own test does."""
    p = compared["p_seeds"]
    found = [p_seed < LEVEL for p_seed in compared["p_sentences"].values()]
    shown = sign if p is not None and p < LEVEL else ""
    return f"{compared['difference']:+.1f}{shown} ({sum(found)}/{len(found)})".replace("-", "−")


def score_table(
    runs: Sequence[Run],
    labels: Mapping[str, str],
    compared: Sequence[Mapping[str, Any]],
    beam: int,
    title: str,
) -> Table:
    """Table 1 of the syn-margin paper: one row a system; ``compared`` holds BLEU comparisons at ``beam``."""
    groups = by_system(runs)
    beams = sorted({width for run in runs for width in run.beams})
    baselines = list(dict.fromkeys(c["baseline"] for c in compared))
    signs = dict(zip(baselines, ("†", "‡", "§", "¶"), strict=False))
    headings = ["system", *(f"BLEU, beam {width}" for width in beams), f"chrF2, beam {beam}"]
    headings += [f"by {labels[b]}" for b in baselines] + ["seeds", "epochs"]
    table = Table(title, headings)
    for system, group in groups.items():
        cells = [labels.get(system, system)]
        cells += [spread([run.score(width) for run in group]) for width in beams]
        cells.append(spread([run.score(beam, "chrF2") for run in group]))
        for baseline in baselines:
            found = [c for c in compared if (c["baseline"], c["system"]) == (baseline, system)]
            cells.append(marks(found[0], signs.get(baseline, "*")) if found else "")
        cells.append(", ".join(str(run.seed) for run in group))
        epochs = sorted({run.record["epochs"] for run in group})
        cells.append("-".join(map(str, dict.fromkeys([epochs[0], epochs[-1]]))))
        table.add(*cells)
    table.notes.append("Mean ± standard deviation over seeds.")
    if compared:
        used = " and ".join(signs.get(baseline, "*") for baseline in baselines)
        table.notes.append(
            f"In the columns “by …”: difference of mean BLEU at beam {beam}; {used} where Welch's t-test "
            f"over seeds gives p < {LEVEL} (two seeds each at least); in brackets, of the seeds that both have, how "
            f"many differ by {compared[0]['method']} over sentences (sacreBLEU, p < {LEVEL}). "
            "No correction for the number of comparisons."
        )
    for metric in METRICS:
        signatures = sorted({run.signature(width, metric) for run in runs for width in run.beams})
        table.notes.append(f"{metric}: {'; '.join(signatures)}")
    return table
