"""The translations in the log of ``fairseq-generate``, in the order of the sentences."""

from __future__ import annotations

import re
from pathlib import Path

from fairseq_xl.errors import InputError
from fairseq_xl.text.lines import read_lines

HYPOTHESIS = re.compile(r"H-(\d+)\t[^\t]*(?:\t(.*))?$")


def read_hypotheses(log: Path | str, expected: int | None = None) -> list[str]:
    """The best hypothesis of each sentence: item *i* is the one of ``H-i``, as tokens.

    fairseq writes batches in an order of its own, and the n best of a sentence one after the
    other, best first. With ``expected`` the log must hold that many sentences. Raises
    :class:`InputError` when a sentence's hypothesis is missing, which a killed run leaves behind.
    """
    best: dict[int, str] = {}
    for line in read_lines(log):
        if found := HYPOTHESIS.match(line):
            best.setdefault(int(found.group(1)), found.group(2) or "")
    if not best:
        raise InputError(f"{log} holds no H- line: give the output of fairseq-generate")
    total = max(best) + 1 if expected is None else expected
    if max(best) >= total:
        raise InputError(
            f"{log} holds sentence {max(best)} where {total} sentences (0 to {total - 1}) are"
            " expected: it is the log of another test set"
        )
    missing = [str(number) for number in range(total) if number not in best]
    if missing:
        some = ", ".join(missing[:5]) + (", …" if len(missing) > 5 else "")
        raise InputError(
            f"{log} lacks the hypotheses of {len(missing)} of {total} sentences ({some}):"
            " generate again"
        )
    return [best[number] for number in range(total)]
