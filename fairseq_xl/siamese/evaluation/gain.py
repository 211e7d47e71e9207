"""Does one system beat another in every language? Differences of macro-F1 with intervals, and their mean."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from fairseq_xl.io.errors import InputError
from fairseq_xl.report.bootstrap import interval
from fairseq_xl.report.classification import bootstrap_differences
from fairseq_xl.report.tables import Table
from fairseq_xl.siamese.evaluation.comparison import learnt_from, mean_f1
from fairseq_xl.siamese.evaluation.records import Record


def named(pattern: str, languages: dict[str, str]) -> str:
    """A system's name in one language: ``{low}`` and ``{high}`` stand for the languages' codes."""
    for side, code in languages.items():
        pattern = pattern.replace(f"{{{side}}}", code)
    return pattern


def gains(records: Sequence[Record], system: str, over: str, samples: int) -> Table:
    """A row for each test set that has runs of both systems, and the mean of all.

    Args:
        records: of predictions, of any test sets. Those of other systems do not count.
        system, over: name patterns of the two, see :func:`named`.
        samples: draws of sentences and runs for each interval.

    Raises:
        InputError: No test set has runs of both. Runs of one language have different test sets. Runs of one system and
            language learnt from different languages or numbers of sentences.
    """
    found: dict[str, tuple[list[Record], list[Record]]] = defaultdict(lambda: ([], []))
    for record in records:
        for runs, pattern in zip(found[record["languages"]["low"]], (system, over), strict=True):
            if record["name"] == named(pattern, record["languages"]):
                runs.append(record)
    table = Table(
        f"Macro-F1 of {system} and of {over}",
        ["language", "sentences", "runs", system, over, "difference", "95 % interval"],
    )
    differences, draws = [], []
    for language, (first, second) in found.items():
        if not first or not second:
            continue
        _check_comparable(language, first, second)
        gold, classes = first[0]["gold"], first[0]["classes"]
        means = [100 * mean_f1(runs) for runs in (first, second)]
        predicted = [[run["predicted"] for run in runs] for runs in (first, second)]
        draws.append(100 * bootstrap_differences(gold, predicted[0], predicted[1], len(classes), samples=samples))
        differences.append(means[0] - means[1])
        table.add(
            language,
            str(len(gold)),
            f"{len(first)}, {len(second)}",
            *(f"{mean:.1f}" for mean in means),
            f"{differences[-1]:+.1f}",
            _interval(draws[-1]),
        )
    if not draws:
        raise InputError(f"no language has records of both {system!r} and {over!r}: names are as `report` lists them")
    if len(draws) > 1:
        # Test sets of one size have the same draws. In another order the draws are independent.
        shuffled = [np.random.default_rng(i).permutation(one) for i, one in enumerate(draws)]
        mean = np.mean(shuffled, axis=0)
        table.add("mean", "", "", "", "", f"{np.mean(differences):+.1f}", _interval(mean))
    table.notes.append(f"Intervals: bootstrap over sentences and runs, the same sentences for both, {samples} draws.")
    return table


def _check_comparable(language: str, first: Sequence[Record], second: Sequence[Record]) -> None:
    for runs in (first, second):
        if len(names := {run["name"] for run in runs}) > 1:
            raise InputError(
                f"the records in {language} are of {' and '.join(map(repr, sorted(names)))}, which are several "
                "systems: give those of one"
            )
        if len({learnt_from(run) for run in runs}) > 1:
            raise InputError(
                f"the records of {runs[0]['name']!r} in {language} learnt from different numbers of sentences: "
                "give those of one"
            )
    if len({(tuple(run["gold"]), tuple(run["classes"]), run["split"]) for run in (*first, *second)}) > 1:
        raise InputError(f"the records of {language} are of different test sets: compare those of one split")


def _interval(draws: np.ndarray) -> str:
    return " to ".join(f"{end:+.1f}" for end in interval(draws))
