"""Word translations as files, in the formats of this project's lexicons, of MUSE's dictionaries and of fast_align."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from fairseq_xl.io.atomic import atomic_text, write_json
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.json_files import loads
from fairseq_xl.io.lines import read_lines

Lexicon = dict[str, list[tuple[str, float]]]
"""Translations of each source word with their probabilities, best first."""


class Entry(NamedTuple):
    """A pair of words; the weight is 0 where the file has none."""

    word: str
    translation: str
    weight: float = 0.0


def write_lexicon(lexicon: Lexicon, path: Path, as_json: bool) -> None:
    """Lines ``source TAB target TAB probability``, or JSON, ``{source: [[target, probability], …]}``."""
    if as_json:
        rounded = {word: [[other, round(share, 6)] for other, share in entries] for word, entries in lexicon.items()}
        write_json(path, rounded, ensure_ascii=False, indent=0)
        return
    with atomic_text(path) as stream:
        for word, entries in lexicon.items():
            stream.writelines(f"{word}\t{other}\t{share:.6f}\n" for other, share in entries)


def read_entries(path: Path) -> list[Entry]:
    """The word pairs of a file, in its order.

    A line is a word, its translation and maybe a weight. Tabs separate them, or blanks where the line has no tab. A
    file ``*.json`` is as :func:`write_lexicon` writes it, or ``{"word": "translation"}``.

    Raises:
        InputError: the file cannot be read, has no words, or holds something else.
    """
    entries = list(_from_json(path) if path.suffix == ".json" else _from_lines(path))
    if not entries:
        raise InputError(f"{path} has no words")
    return entries


def read_translations(path: Path, lower: bool = False) -> dict[str, str]:
    """The translation of each word that has the largest weight, and the first of several such.

    Args:
        lower: read the words, not their translations, in lower case.

    Raises:
        InputError: as :func:`read_entries`.
    """
    best: dict[str, Entry] = {}
    for entry in read_entries(path):
        word = entry.word.lower() if lower else entry.word
        if word not in best or entry.weight > best[word].weight:
            best[word] = entry
    return {word: entry.translation for word, entry in best.items()}


def _from_lines(path: Path) -> Iterator[Entry]:
    for number, line in enumerate(read_lines(path), start=1):
        columns = [column.strip() for column in line.split("\t")] if "\t" in line else line.split()
        try:
            word, translation = columns[:2]
            (weight,) = columns[2:] or ("0",)
            entry = Entry(word, translation, float(weight))
        except ValueError:
            entry = Entry("", "")
        if not entry.word or not entry.translation:
            raise InputError(
                f"{path}, line {number}: expected a word, its translation and maybe a weight, separated by tabs, not "
                f"{line!r}"
            )
        yield entry


def _from_json(path: Path) -> Iterator[Entry]:
    try:
        for word, found in loads("\n".join(read_lines(path))).items():
            entries: list[Any] = [[found, 0.0]] if isinstance(found, str) else found
            for entry in entries:
                translation, weight = entry
                if not isinstance(entry, list) or not isinstance(translation, str):
                    raise TypeError(f"{word} has {entry!r} as a translation")
                if not word or not translation:
                    raise ValueError(f"{word!r} has {translation!r} as a translation")
                yield Entry(word, translation, float(weight))
    except (ValueError, AttributeError, TypeError) as error:
        raise InputError(
            f'{path} is no lexicon in JSON, {{"word": [["translation", probability], …], …}}: {error}'
        ) from None
