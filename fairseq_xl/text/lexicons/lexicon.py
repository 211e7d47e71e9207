"""Word translations as a file: made from parallel text, read to replace unknown words."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from scipy import sparse

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.json_files import loads
from fairseq_xl.io.lines import read_lines
from fairseq_xl.text.lexicons.bitext import Bitext

Lexicon = dict[str, list[tuple[str, float]]]
"""Translations of each source word with their probabilities, best first."""


def make_lexicon(
    bitext: Bitext,
    counts: sparse.csr_matrix,
    totals: np.ndarray,
    min_probability: float = 0.0,
    min_count: int = 1,
    best: int = 1,
) -> Lexicon:
    """The most probable translations of each word.

    Args:
        counts: (F, E) how often two words are linked.
        totals: (F,) what a translation's probability is its count's share of: a word's links, and
            its occurrences without any where they are known.
        min_probability: leave out translations below.
        min_count: leave out source words with fewer occurrences.
        best: at most so many translations of a word.
    """
    source, target = bitext.source, bitext.target
    frequent = source.counts >= min_count
    lexicon = {}
    for row in sorted(range(len(source.words)), key=source.words.__getitem__):
        if not frequent[row] or not totals[row]:
            continue
        part = slice(counts.indptr[row], counts.indptr[row + 1])
        shares = counts.data[part] / totals[row]
        entries = [
            (target.words[word], float(share))
            for word, share in zip(counts.indices[part], shares, strict=True)
            if share > 0 and share >= min_probability
        ]
        entries.sort(key=lambda entry: (-entry[1], entry[0]))
        if entries:
            lexicon[source.words[row]] = entries[:best]
    return lexicon


def write_lexicon(lexicon: Lexicon, path: Path, as_json: bool) -> None:
    """Lines ``source TAB target TAB probability``, or JSON, ``{source: [[target, probability], …]}``."""
    with atomic_text(path) as stream:
        if as_json:
            rounded = {
                word: [[other, round(share, 6)] for other, share in entries] for word, entries in lexicon.items()
            }
            json.dump(rounded, stream, ensure_ascii=False, indent=0)
            stream.write("\n")
        else:
            for word, entries in lexicon.items():
                stream.writelines(f"{word}\t{other}\t{share:.6f}\n" for other, share in entries)


def read_translations(path: Path) -> dict[str, str]:
    """The first translation of each word, from a file ``*.json`` or lines as :func:`write_lexicon` writes.

    A dictionary made by hand may leave the probabilities out; in JSON it is ``{"word": "translation"}``.

    Raises:
        InputError: the file cannot be read, or does not hold translations.
    """
    if path.suffix == ".json":
        return _from_json(path)
    found: dict[str, str] = {}
    for number, line in enumerate(read_lines(path), start=1):
        columns = line.split("\t")
        if len(columns) not in (2, 3) or not all(columns[:2]):
            raise InputError(
                f"{path}, line {number}: a lexicon's line is a source word, a target word and maybe a"
                f" probability, separated by tabs, not {line!r}"
            )
        found.setdefault(columns[0], columns[1])
    return found


def _from_json(path: Path) -> dict[str, str]:
    found = {}
    try:
        for word, entry in loads("\n".join(read_lines(path))).items():
            found[word] = entry if isinstance(entry, str) else entry[0][0]
            if not isinstance(found[word], str):
                raise TypeError(f"{word} has no words as translations")
    except (ValueError, AttributeError, TypeError, LookupError) as error:
        raise InputError(
            f'{path} is no lexicon in JSON, {{"word": [["translation", probability], …], …}}: {error}'
        ) from None
    return found
