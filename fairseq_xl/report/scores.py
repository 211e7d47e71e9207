"""Table 1: scores over seeds, and which differences mean something."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.progress import progress_bar
from fairseq_xl.report.runs import Run, by_system
from fairseq_xl.report.significance import LEVEL, METHODS, KeptTests, seeds_differ
from fairseq_xl.report.tables import Table

METRICS = ("BLEU", "chrF2")


def spread(values: Sequence[float], digits: int = 1) -> str:
    """Mean ± standard deviation (of a sample), or the value alone."""
    mean = f"{statistics.mean(values):.{digits}f}"
    return mean if len(values) == 1 else f"{mean} ± {statistics.stdev(values):.{digits}f}"


def epochs(runs: Sequence[Run]) -> str:
    """How many epochs the runs were trained: a number, or the least and the most."""
    counts = [run.record["epochs"] for run in runs]
    return "-".join(map(str, dict.fromkeys([min(counts), max(counts)])))


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
    """Each system against each baseline: the difference of means, its 95 % interval over sentences and runs, and p.

    p is over seeds, and for each seed that both have over sentences, with that seed's difference.

    ``method`` and ``samples`` are those of :func:`significance.sentences_differ`.

    Raises:
        InputError: runs of two systems that are compared have other references.
    """
    groups = by_system(runs)
    pairs = [(groups[b], groups[s]) for b in baselines if b in groups for s in groups if s != b]
    for pair in pairs:
        _check_references(*pair)
    compare = partial(_comparison, beam=beam, tests=tests, metric=metric, method=method, samples=samples)
    return [compare(*pair) for pair in progress_bar("paired tests", shown, None, " tests", pairs)]


def _check_references(baseline: Sequence[Run], system: Sequence[Run]) -> None:
    first, *others = (*baseline, *system)
    for run in others:
        if run.references() != first.references():
            raise InputError(
                f"{first.folder} and {run.folder} were scored against other references: run one of them again with "
                "the data of the other, or report on them apart"
            )


def _comparison(
    baseline: Sequence[Run],
    system: Sequence[Run],
    beam: int,
    tests: KeptTests,
    metric: str,
    method: str,
    samples: int,
) -> dict[str, Any]:
    """The runs of one system against those of a baseline, see :func:`comparisons`."""
    theirs, ours = ({run.seed: run for run in group} for group in (baseline, system))
    scores = [[run.score(beam, metric) for run in group] for group in (baseline, system)]
    by_seed = {
        seed: tests.sentences_differ(
            theirs[seed].hypotheses(beam),
            ours[seed].hypotheses(beam),
            ours[seed].references(),
            metric,
            method,
            samples,
            ours[seed].tokenize(beam),
        )
        for seed in ours
        if seed in theirs
    }
    interval = tests.difference_interval(
        [run.hypotheses(beam) for run in baseline],
        [run.hypotheses(beam) for run in system],
        system[0].references(),
        metric,
        samples if method == "bs" else 0,
        system[0].tokenize(beam),
    )
    return {
        "baseline": baseline[0].system,
        "system": system[0].system,
        "metric": metric,
        "beam": beam,
        "difference": statistics.mean(scores[1]) - statistics.mean(scores[0]),
        "interval": interval,
        "p_seeds": seeds_differ(*scores),
        "p_sentences": by_seed,
        "differences": {seed: ours[seed].score(beam, metric) - theirs[seed].score(beam, metric) for seed in by_seed},
        "method": METHODS[method],
    }


def marks(compared: Mapping[str, Any], sign: str) -> str:
    """The difference, with ``sign`` where the test over seeds finds one, and its interval.

    Then come how many seeds' own test finds the same one, or one the other way.
    """
    p = compared["p_seeds"]
    shown = sign if p is not None and p < LEVEL else ""
    differences = compared["differences"]
    found = [differences[seed] for seed, p_seed in compared["p_sentences"].items() if p_seed < LEVEL]
    same = sum(difference * compared["difference"] > 0 for difference in found)
    other = sum(difference * compared["difference"] < 0 for difference in found)
    against = f", {other} against" if other else ""
    low, high = compared["interval"]
    count = f"{same}/{len(differences)}{against}"
    return f"{compared['difference']:+.1f}{shown} ({low:+.1f} to {high:+.1f}; {count})".replace("-", "−")


def score_table(
    runs: Sequence[Run], labels: Mapping[str, str], compared: Sequence[Mapping[str, Any]], beam: int, title: str
) -> Table:
    """Table 1 of the syn-margin paper, with one row a system. ``compared`` holds comparisons at ``beam``, by BLEU and
    maybe by chrF2. Where it does, chrF2 has columns of its own."""
    groups = by_system(runs)
    beams = sorted({width for run in runs for width in run.beams})
    baselines = list(dict.fromkeys(c["baseline"] for c in compared))
    signs = dict(zip(baselines, ("†", "‡", "§", "¶"), strict=False))
    measured = [width for width in beams if any(run.length_ratio(width) for run in runs)]
    headings = ["system", *(f"BLEU, beam {width}" for width in beams), f"chrF2, beam {beam}"]
    headings += [f"length, beam {width}" for width in measured]
    columns = list(dict.fromkeys((c["metric"], c["baseline"]) for c in compared))
    headings += [f"{metric} by {labels[baseline]}" for metric, baseline in columns] + ["seeds", "epochs"]
    table = Table(title, headings)
    for system, group in groups.items():
        cells = [labels.get(system, system)]
        cells += [spread([run.score(width) for run in group]) for width in beams]
        cells.append(spread([run.score(beam, "chrF2") for run in group]))
        for width in measured:
            ratios = [ratio for run in group if (ratio := run.length_ratio(width))]
            cells.append(spread(ratios, 2) if ratios else "")
        for column in columns:
            baseline = column[1]
            found = [c for c in compared if (c["metric"], c["baseline"]) == column and c["system"] == system]
            cells.append(marks(found[0], signs.get(baseline, "*")) if found else "")
        cells.append(", ".join(str(run.seed) for run in group))
        cells.append(epochs(group))
        table.add(*cells)
    length = " Length: of the translations over that of the reference, in sacreBLEU's words." if measured else ""
    table.notes.append(f"Mean ± standard deviation over seeds.{length}")
    if compared:
        used = " and ".join(signs.get(baseline, "*") for baseline in baselines)
        table.notes.append(
            f"The columns “by …” have the difference of means at beam {beam}. It is marked {used} where Welch's "
            f"t-test over seeds gives p < {LEVEL} (at least two seeds each). The brackets have its 95 % interval, by "
            "bootstrap over sentences and runs. Then they count, of the seeds that both have, those that differ in "
            f"the same direction and those in the other. A seed differs by {compared[0]['method']} over sentences "
            f"(sacreBLEU, p < {LEVEL}). Nothing corrects for the number of comparisons."
        )
    for metric in METRICS:
        signatures = sorted({run.signature(width, metric) for run in runs for width in run.beams})
        table.notes.append(f"{metric}: {'; '.join(signatures)}")
        table.signature += f"{'; ' if table.signature else ''}{metric} {', '.join(signatures)}"
    return table
