"""The translations in the log of ``fairseq-generate``, in the order of the sentences."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import count_lines, read_lines, refuse_pipe
from fairseq_xl.text.unknown_replacement import UNKNOWN, Counts, replace_unk

HYPOTHESIS = re.compile(r"H-([0-9]{1,15})\t[^\t]*(?:\t(.*))?$")
SOURCE = re.compile(r"S-([0-9]{1,15})\t(.*)$")
ATTENTION = re.compile(r"A-([0-9]{1,15})\t(.*)$")


def _first(log: Path | str, line_of: re.Pattern[str]) -> dict[int, str]:
    """The text of each sentence's first line of a kind: the n best follow one another, best first."""
    found: dict[int, str] = {}
    for line in read_lines(log):
        if match := line_of.match(line):
            found.setdefault(int(match.group(1)), match.group(2) or "")
    return found


def read_hypotheses(log: Path | str, expected: int | None = None) -> list[str]:
    """The best hypothesis of each sentence: item *i* is the one of ``H-i``, as tokens.

    fairseq writes batches in an order of its own. With ``expected`` the log must hold that many
    sentences. Raises :class:`InputError` when a sentence's hypothesis is missing, which a killed run
    leaves behind.
    """
    best = _first(log, HYPOTHESIS)
    if not best:
        raise InputError(f"{log} holds no H- line: give the output of fairseq-generate")
    total = max(best) + 1 if expected is None else expected
    if max(best) >= total:
        raise InputError(
            f"{log} holds sentence {max(best)} where {total} sentences (0 to {total - 1}) are"
            " expected: it is the log of another test set"
        )
    missing = total - len(best)
    if missing:
        first = itertools.islice((str(number) for number in range(total) if number not in best), 5)
        some = ", ".join(first) + (", …" if missing > 5 else "")
        raise InputError(f"{log} lacks the hypotheses of {missing} of {total} sentences ({some}): generate again")
    return [best[number] for number in range(total)]


def read_replaced(
    log: Path | str,
    source: Path | str,
    lexicon: Mapping[str, str],
    subwords: str | None = None,
    replace_unk_distance: float = np.inf,
    as_read: Path | str | None = None,
) -> tuple[list[str], Counts]:
    """As :func:`read_hypotheses`, unknown words replaced as ``unknown_replacement.replace_unk`` does.

    Args:
        log: of ``fairseq-generate --print-alignment soft``, without ``--post-process``.
        source: the text that was preprocessed, where words unknown to the dictionary are spelled.
        lexicon, subwords, replace_unk_distance: as there.
        as_read: the text that was preprocessed where it is another, word for word in the place of ``source``'s, as
            ``data known-words`` writes it.

    Raises:
        InputError: a log without attention, or of another text.
    """
    refuse_pipe(log)
    as_read = source if as_read is None else as_read
    hypotheses = read_hypotheses(log, count_lines(source))
    seen, printed = _first(log, SOURCE), _first(log, ATTENTION)
    counts = Counts()
    if count_lines(as_read) != len(hypotheses):
        raise InputError(f"{as_read} and {source} differ in their numbers of lines: give the same text twice")
    for number, (line, text, read) in enumerate(zip(hypotheses, read_lines(source), read_lines(as_read), strict=True)):
        tokens, spelled, words = line.split(), text.split(), read.split()
        if UNKNOWN not in tokens:
            continue
        known = seen.get(number, "").split()
        if not len(known) == len(spelled) == len(words) or any(
            word not in (UNKNOWN, there) for word, there in zip(known, words, strict=True)
        ):
            raise InputError(
                f"{log}, sentence {number}: its source {' '.join(known)!r} is not line {number + 1} of"
                f" {as_read}; give the text that was preprocessed, and generate without --post-process"
            )
        if number not in printed:
            raise InputError(f"{log} holds no attention of sentence {number}: generate with --print-alignment soft")
        attention = _read_attention(log, number, printed[number], len(spelled))
        if len(attention) != len(tokens) + 1:  # the end of the sentence attends, too
            raise InputError(
                f"{log}, sentence {number}: {len(attention)} rows of attention for {len(tokens)} tokens"
                " and the end of sentence; generate without --post-process"
            )
        options = (spelled, lexicon, counts, subwords, replace_unk_distance)
        hypotheses[number] = " ".join(replace_unk(tokens, attention, *options))
    return hypotheses, counts


def _read_attention(log: Path | str, number: int, text: str, words: int) -> np.ndarray:
    """(T + 1, S) weights of the source's words, its end left out."""
    try:
        weights = np.array([row.split(",") for row in text.split()], float)
    except ValueError:
        raise InputError(
            f"{log}, sentence {number}: the line A-{number} holds no weights; generate with"
            " --print-alignment soft (hard tells only the place of the largest)"
        ) from None
    if weights.shape[1:] != (words + 1,) or np.abs(weights.sum(1) - 1).max() > 0.01:
        raise InputError(
            f"{log}, sentence {number}: its attention does not sum to 1 over the {words} source words and the end of "
            "sentence. So it is unknown which word a weight belongs to. The lstm of fairseq shifts weights by the "
            "padding: generate with --left-pad-source, which turns that off"
        )
    return weights[:, :words]
