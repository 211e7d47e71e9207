"""Files whose words without a vector are repaired, and what that changed."""

from __future__ import annotations

import itertools
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fairseq_xl.io.atomic import atomic_outputs
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import BOM, open_binary, refuse_pipe
from fairseq_xl.io.tables import Row, parse_settings, stream_rows
from fairseq_xl.pairs.augmentation.repair import Repair
from fairseq_xl.pairs.data.statistics import Unknown, unknown
from fairseq_xl.pairs.data.tokenizer import WordRules
from fairseq_xl.report.tables import Table

KEYS = ("columns", "translations")


@dataclass(frozen=True)
class TextFile:
    """A tab-separated file and the columns of its sentences, and of their translations if it has them.

    FILE[,columns=A+B…][,translations=C+D…], a column being a number or a name of the first row (default: 1+2).
    """

    path: Path
    columns: list[str]
    translations: list[str]

    @classmethod
    def parse(cls, line: str) -> TextFile:
        """Raises: InputError: an unknown setting, or not one translation for each column; a pipe."""
        path, options = parse_settings(line, KEYS)
        refuse_pipe(path)
        chosen = options.get("columns", "1+2").split("+")
        translations = options["translations"].split("+") if "translations" in options else []
        if translations and len(translations) != len(chosen):
            raise InputError(f"{line!r}: {len(translations)} translations for {len(chosen)} columns")
        return cls(path, chosen, translations)

    def rows(self) -> Iterator[Row]:
        """Its lines; ``places`` are those of the sentences, then those of their translations."""
        return stream_rows(self.path, [*self.columns, *self.translations])

    def sentences(self, rules: WordRules) -> Iterator[list[tuple[str, ...]]]:
        """The words of the sentences of each line."""
        for row in self.rows():
            if not row.names:
                places = row.places[: len(self.columns)]
                yield [tuple(rules.words(row.cells[place])) for place in places]


@dataclass(frozen=True)
class Change:
    """A word that was replaced: as it was written, and as it is now."""

    path: Path
    line: int
    word: str
    replacement: str
    rule: str


@dataclass
class Outcome:
    """What a file lacked before and after, and how often each rule was applied to it."""

    before: Unknown
    after: Unknown
    rules: Counter[str] = field(default_factory=Counter)


def count(files: Sequence[TextFile], rules: WordRules) -> tuple[Counter[str], Counter[tuple[str, str]]]:
    """The words of all files, and the words that stand side by side."""
    counts: Counter[str] = Counter()
    neighbours: Counter[tuple[str, str]] = Counter()
    for file in files:
        for sentences in file.sentences(rules):
            for words in sentences:
                counts.update(words)
                neighbours.update(itertools.pairwise(words))
    return counts, neighbours


def repaired(
    text: str, repair: Mapping[str, tuple[str, str]], rules: WordRules, keep: Collection[str] = ()
) -> tuple[str, list[tuple[str, str, str]]]:
    """A sentence with its words replaced, and the (word, replacement, rule) of each.

    Everything between the words stays as it was. Words keep their capitals where case is folded.

    Args:
        repair: word -> (replacement, rule).
        keep: words that stay as they are here.
    """
    as_written = WordRules(keep_case=True, keep_punctuation=rules.keep_punctuation)
    # The words are those of the text in composed letters; so is the sentence, if it changes.
    composed = unicodedata.normalize("NFC", text)
    pieces, changes, end = [], [], 0
    for word in as_written.words(text):
        start = composed.index(word, end)
        pieces.append(composed[end:start])
        end = start + len(word)
        known = word if rules.keep_case else word.lower()
        if known in repair and known not in keep:
            better, rule = repair[known]
            if not rules.keep_case:
                better = _with_capitals(better, word)
            changes.append((word, better, rule))
            word = better
        pieces.append(word)
    return ("".join([*pieces, composed[end:]]), changes) if changes else (text, [])


def _with_capitals(word: str, example: str) -> str:
    if len(example) > 1 and example.isupper():
        return word.upper()
    return word[0].upper() + word[1:] if example[0].isupper() else word


def write(file: TextFile, output: Path, repair: Repair, rules: WordRules) -> tuple[Outcome, list[Change]]:
    """Write a file anew, with only its words without a vector replaced, and list the changes.

    A word that the sentence's translation holds as well is a name, and stays.
    """
    changes: list[Change] = []
    with atomic_outputs(output) as (temporary,), temporary.open("wb") as stream, open_binary(file.path) as raw_lines:
        for row, raw in zip(file.rows(), raw_lines, strict=True):
            before = len(changes)
            for number, place in enumerate(row.places[: len(file.columns)] if not row.names else []):
                keep: set[str] = set()
                if file.translations:
                    keep.update(rules.words(row.cells[row.places[len(file.columns) + number]]))
                row.cells[place], found = repaired(row.cells[place], repair.found, rules, keep)
                changes += [Change(file.path, row.number, *change) for change in found]
            stream.write(_line(raw, row.cells) if len(changes) > before else raw)
    known = repair.vocabulary
    outcome = Outcome(
        unknown(file.sentences(rules), known),
        unknown(replace(file, path=output).sentences(rules), known),
        Counter(change.rule for change in changes),
    )
    return outcome, changes


def write_all(
    files: Sequence[TextFile], outputs: Sequence[Path], repair: Repair, rules: WordRules
) -> tuple[Table, list[Change]]:
    """:func:`write` each file; the table has what they lacked before and after. Raises: InputError: as it does."""
    headings = [f"{what}, {when}" for what in ("terms", "sentences", "pairs") for when in ("before", "after")]
    table = Table("Without a vector", ["file", *headings, *repair.rules])
    changes = []
    for file, output in zip(files, outputs, strict=True):
        outcome, found = write(file, output, repair, rules)
        changes += found
        before, after = outcome.before, outcome.after
        cells = [before.terms, after.terms, before.sentences, after.sentences, before.pairs, after.pairs]
        cells += [outcome.rules[rule] for rule in repair.rules]
        table.add(file.path.name, *(f"{cell:,}" for cell in cells))
    return table, changes


def _line(raw: bytes, cells: Sequence[str]) -> bytes:
    """A line with other cells, its mark and its end as they were."""
    end = raw[len(raw.rstrip(b"\n").removesuffix(b"\r")) :]
    return (BOM if raw.startswith(BOM) else b"") + "\t".join(cells).encode() + end
