"""Check and clean a parallel corpus: two files whose lines *n* are translations of each other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from fairseq_xl.io.atomic import atomic_texts
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import count_lines, read_lines
from fairseq_xl.io.progress import progress_bar
from fairseq_xl.io.settings import check, option

POLICIES = ("drop", "keep", "error")

# What some reader or other takes for the end of a line, when it stands inside one.
INNER_LINE_BREAKS = re.compile("[\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]+")


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What makes a sentence pair unfit, and what happens to it then."""

    max_tokens: int = option(
        "longest side in tokens separated by spaces; set it where memory runs out (0: no limit)", 0, low=0
    )
    max_ratio: float = option(
        "longer side over shorter side, in tokens; 3 drops what is no translation (0: no limit)", 0.0, low=0
    )
    empty: str = option("pairs with an empty side", "drop", choices=POLICIES)
    long: str = option("pairs beyond --max-tokens or --max-ratio", "drop", choices=POLICIES)

    def __post_init__(self) -> None:
        check(self)
        if 0 < self.max_ratio < 1:
            raise InputError(f"--max-ratio is {self.max_ratio}: give 0 (no limit), or 1 or more")

    def fault(self, source: str, target: str) -> str | None:
        """The reason why a pair is unfit (``empty``, ``too long``, ``ratio``), or None."""
        lengths = len(source.split()), len(target.split())
        if min(lengths) == 0:
            return "empty"
        if self.max_tokens and max(lengths) > self.max_tokens:
            return "too long"
        if self.max_ratio and max(lengths) > self.max_ratio * min(lengths):
            return "ratio"
        return None

    def policy(self, reason: str) -> str:
        """What to do with a pair that is unfit for this reason."""
        return self.empty if reason == "empty" else self.long


@dataclass
class Report:
    """How many pairs were read and written, and how many met each reason, whatever was done."""

    read: int = 0
    written: int = 0
    reasons: dict[str, int] = field(default_factory=dict)

    def count(self, reason: str) -> None:
        """Count one more pair for a reason."""
        self.reasons[reason] = self.reasons.get(reason, 0) + 1

    def __str__(self) -> str:
        text = f"{self.read} pairs read, {self.written} written"
        if self.reasons:
            text += "; " + ", ".join(f"{count} {why}" for why, count in self.reasons.items())
        return text


def check_equal_counts(source: Path | str, target: Path | str) -> int:
    """The number of pairs; :class:`InputError` naming both files when they differ in length."""
    counts = count_lines(source), count_lines(target)
    if counts[0] != counts[1]:
        raise InputError(
            f"{source} has {counts[0]} lines and {target} has {counts[1]}: the two sides of a"
            " parallel corpus need the same number of lines"
        )
    if counts[0] == 0:
        raise InputError(f"{source} and {target} are empty: give files with sentences in them")
    return counts[0]


def read_parallel(source: Path | str, target: Path | str) -> Iterator[tuple[str, str]]:
    """Line beside line. Raises: InputError: at once, what :func:`check_equal_counts` raises."""
    check_equal_counts(source, target)
    return zip(read_lines(source), read_lines(target), strict=True)


def clean(
    source: Path | str,
    target: Path | str,
    source_out: Path | str,
    target_out: Path | str,
    rules: Rules | None = None,
) -> Report:
    """Write the pairs that ``rules`` let pass, one sentence per ``\\n``-ended line, still aligned.

    Line breaks of other kinds inside a sentence become spaces, and sentences are stripped. Raises :class:`InputError`
    for unequal line counts, and for invalid UTF-8 with file and line. It also does so for the first unfit pair whose
    policy is ``error``, with its line.
    """
    rules = rules or Rules()
    total = check_equal_counts(source, target)
    report = Report()
    pairs = zip(read_lines(source), read_lines(target), strict=True)
    name = f"clean {Path(source).name}"
    bar = progress_bar(name, True, total, " pairs", pairs)
    with atomic_texts(Path(source_out), Path(target_out)) as (left, right):
        for number, pair in enumerate(bar, start=1):
            report.read += 1
            if any(INNER_LINE_BREAKS.search(side.strip()) for side in pair):
                report.count("line break inside")
            x, y = (INNER_LINE_BREAKS.sub(" ", side).strip() for side in pair)
            reason = rules.fault(x, y)
            if reason is not None:
                report.count(reason)
                policy = rules.policy(reason)
                if policy == "error":
                    raise InputError(
                        f"line {number} of {source} and {target}: {reason}"
                        f" ({len(x.split())} and {len(y.split())} tokens); mend the pair, or let"
                        " such pairs be dropped or kept"
                    )
                if policy == "drop":
                    continue
            left.write(x + "\n")
            right.write(y + "\n")
            report.written += 1
        if report.written == 0:
            raise InputError(f"no pair of {source} and {target} is left ({report}): use other limits")
    return report
