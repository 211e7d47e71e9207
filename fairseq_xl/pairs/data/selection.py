"""Which pairs may be trained on: each once, none with both labels, and none that tells of what is judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.data.folds import translated_classes
from fairseq_xl.pairs.data.source import PairSource
from fairseq_xl.pairs.data.tokenized import TokenizedPair, read_pairs
from fairseq_xl.pairs.data.tokenizer import Tokenizer


def translations(rows: Iterable[TokenizedPair], known: Mapping[str, str] | None = None) -> dict[str, str]:
    """The sentence that stands for those that translate each other, of these rows and of what is ``known`` of others.

    One without words says nothing.
    """
    links = [link for row in rows if row.translations for link in zip(row.sides, row.translations, strict=True)]
    return translated_classes(link for link in [*(known or {}).items(), *links] if all(link))


def classes(sides: Iterable[str], same: Mapping[str, str]) -> frozenset[str]:
    """The sentences that stand for both sides of a pair, as `translations` has them."""
    return frozenset(same.get(side, side) for side in sides)


def _unordered(row: TokenizedPair) -> frozenset[str]:
    return frozenset(row.sides)


def consistent(rows: list[TokenizedPair], left_out: Counter[str]) -> list[TokenizedPair]:
    """Each pair of training once, whichever side stands first; none with both labels.

    Args:
        rows: of training.
        left_out: counts what is left out, by why.
    """
    labels: dict[Hashable, set[int | None]] = {}
    for row in rows:
        labels.setdefault(_unordered(row), set()).add(row.pair.label)
    kept: dict[Hashable, TokenizedPair] = {}
    for row in rows:
        if len(labels[_unordered(row)]) > 1:
            left_out["contradictory"] += 1
        elif _unordered(row) in kept:
            left_out["duplicate"] += 1
        else:
            kept[_unordered(row)] = row
    return list(kept.values())


def without_leaks(
    rows: list[TokenizedPair], judged: list[TokenizedPair], leaks: str, same: Mapping[str, str], left_out: Counter[str]
) -> list[TokenizedPair]:
    """The training pairs that share nothing with what is judged.

    Args:
        rows: of training.
        judged: of the splits valid and test.
        leaks: what may not be shared: "sentences", "pairs", or "nothing" where all may stay.
        same: as `translations` has it.
        left_out: counts what is left out.
    """
    if leaks == "nothing":
        return rows
    pairs = {classes(row.sides, same) for row in judged}
    known = frozenset().union(*pairs)
    sides = {row.id: classes(row.sides, same) for row in rows}
    kept = [row for row in rows if not (known & sides[row.id] if leaks == "sentences" else sides[row.id] in pairs)]
    left_out["in the splits valid or test"] += len(rows) - len(kept)
    return kept


def read_supplement(
    sources: Sequence[PairSource],
    tokenizer: Tokenizer,
    splits: dict[str, list[TokenizedPair]],
    same: Mapping[str, str],
) -> tuple[list[TokenizedPair], dict[str, Any]]:
    """The pairs that supplement the splits and share no sentence with them, nor a translation of one, and their counts.

    Raises:
        InputError: a file that names a split or folds, a pair without a label, or no pair left.
    """
    for source in sources:
        if {"split", "fold"} & set(source.options):
            raise InputError(f"{source.path}: a supplement has no split and no folds: leave out split= and fold=")
    rows = read_pairs(sources, tokenizer)
    if blank := next((row for row in rows if row.pair.label is None), None):
        raise InputError(f"{blank.pair.where}: the supplement needs labels: name their column with label=")
    left_out: Counter[str] = Counter()
    rows = consistent(rows, left_out)
    same = translations(rows, same)
    known = {each for own in splits.values() for row in own for each in classes(row.sides, same)}
    kept = [row for row in rows if not known & classes(row.sides, same)]
    if not kept:
        raise InputError("no pair of the supplement is left: all share a sentence with the other files")
    left_out["with a sentence of the other files"] = len(rows) - len(kept)
    matching = sum(row.pair.label or 0 for row in kept)
    return kept, {"pairs": len(kept), "matching": matching, "left_out": dict(left_out)}
