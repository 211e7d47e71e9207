"""Pairs of sentences as they are published: a :class:`~fairseq_xl.io.tables.Table` whose rows are pairs.

    FILE[,KEY=VALUE]…        train.tsv,left=question1,right=question2,label=is_duplicate

==================  ===================================================================================
left, right         columns of the two sentences (default: 1 and 2)
label               column of the label, 0 or 1 (default: 3); ``none`` for pairs without one
score               column of a graded similarity, any number, which `match similarity` reads instead of a label
left_translation,   columns of their translations, which label transfer reads (default: none)
right_translation
languages           of left and right, such as en+fr: words of either are told apart, en:chat from fr:chat
translation_        of the translations, such as fr+en: `match prepare` then keeps a sentence and its translation in
languages           one fold, and both out of training where either is judged
fold                column of the fold, from 0 to 999 (default: folds are made from the sentences)
split               as for every table, or train_only: trained on, but judged in no fold
format, encoding    as for every table; columns are numbers from 1, or names of the first row or of JSON's keys
==================  ===================================================================================
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.tables import SPLITS, Table

COLUMNS = ("left", "right", "label", "score", "left_translation", "right_translation", "fold")
LANGUAGES = re.compile(r"([a-z][\w-]*)\+([a-z][\w-]*)")
TRAIN_ONLY = "train_only"
"""The split of pairs for training that no fold is judged on."""
DEFAULTS = {"left": "1", "right": "2", "label": "3"}


def two_codes(text: str, what: str = "languages") -> tuple[str, str]:
    """The languages of left and right, of en+fr. Raises: InputError: other text, which ``what`` names."""
    found = LANGUAGES.fullmatch(text)
    if not found:
        raise InputError(f"{what} are two codes, such as en+fr, not {text!r}")
    return found[1], found[2]


@dataclass(frozen=True)
class Pair:
    """Two sentences as they were written.

    Attributes:
        left, right: never blank.
        label: 1 where they mean the same, 0 where they do not, and None where the file does not say.
        translations: of left and right, where the file has them.
        fold: where the file says it.
        score: a graded similarity, where the file has one.
        where: file and line, for messages.
    """

    left: str
    right: str
    label: int | None
    translations: tuple[str, str] | None
    where: str
    fold: int | None = None
    score: float | None = None


@dataclass(frozen=True)
class PairSource(Table):
    """A file of pairs and how to read it. The keys are those of the module's table."""

    FORMATS = ("tsv", "csv", "jsonl")
    KEYS = (*COLUMNS, "languages", "translation_languages")
    CHOICES: ClassVar[Mapping[str, Collection[str]]] = {"split": (*SPLITS, TRAIN_ONLY)}

    @classmethod
    def parse(cls, line: str) -> Self:
        """Raises: InputError: a key or value is unknown, or one translation is given without the other."""
        found = super().parse(line)
        for key in ("languages", "translation_languages"):
            if key in found.options:
                two_codes(found.options[key], f"{line!r}: {key.replace('_', ' ')}")
        left, right = (found.options.get(key, DEFAULTS[key]) for key in ("left", "right"))
        if left == right:
            raise InputError(f"{line!r}: left and right are one column: name two")
        if ("left_translation" in found.options) != ("right_translation" in found.options):
            raise InputError(f"{line!r}: give left_translation and right_translation, or neither")
        if "fold" in found.options and found.options.get("split", "train") in ("valid", "test"):
            raise InputError(f"{line!r}: folds are of training pairs: leave fold= or split= out")
        if "translation_languages" in found.options and not {"languages", "left_translation"} <= set(found.options):
            raise InputError(
                f"{line!r}: translation_languages needs languages, left_translation and right_translation: give them"
            )
        return found

    @property
    def languages(self) -> tuple[str, str] | None:
        """The languages of the two sides, where the source says them."""
        return self._two_codes("languages")

    @property
    def translation_languages(self) -> tuple[str, str] | None:
        """Those of the two sides' translations."""
        return self._two_codes("translation_languages")

    def _two_codes(self, key: str) -> tuple[str, str] | None:
        return two_codes(self.options[key]) if key in self.options else None

    def pairs(self) -> Iterator[Pair]:
        """The file's pairs in its order.

        Raises:
            InputError: The file is unusable, as for :meth:`~fairseq_xl.io.tables.Table.rows`. A row has more or fewer
                cells than the first. A label is neither 0 nor 1. A score is not a number. A sentence is blank.
        """
        chosen = {**DEFAULTS, **{key: self.options[key] for key in COLUMNS if key in self.options}}
        if chosen["label"] == "none" or ("score" in chosen and "label" not in self.options):
            del chosen["label"]
        numbered = all(column.isdecimal() for column in chosen.values())
        for number, (where, cells) in enumerate(self.rows(chosen, even=True)):
            hint = _OF_NAMES if numbered and number == 0 else ""
            yield _pair({key: cell.strip() for key, cell in cells.items()}, where, hint)


_OF_NAMES = ": if line 1 has the columns' names, name columns by them, as in left=NAME"


def _pair(cells: dict[str, str], where: str, hint: str) -> Pair:
    """Args: hint: what to say of a label or a score that is none."""
    for key in COLUMNS:
        if key != "label" and cells.get(key) == "":
            raise InputError(f"{where}: the {key.replace('_', ' ')} is empty: leave the pair out")
    fold = cells.get("fold")
    if fold is not None and not (fold.isdecimal() and len(fold) < 4):
        raise InputError(f"{where}: the fold is {fold!r}, not a number from 0 to 999")
    label = cells.get("label")
    if label not in ("0", "1", None):
        raise InputError(f"{where}: the label is {label!r}, not 0 or 1{hint}")
    try:
        score = float(cells["score"]) if "score" in cells else None
    except ValueError:
        score = math.nan
    if score is not None and not math.isfinite(score):
        raise InputError(f"{where}: the score is {cells['score']!r}, not a number{hint}")
    return Pair(
        cells["left"],
        cells["right"],
        None if label is None else int(label),
        (cells["left_translation"], cells["right_translation"]) if "left_translation" in cells else None,
        where,
        None if fold is None else int(fold),
        score,
    )
