"""Words that a dictionary lacks, read as the words of it that their vectors are nearest to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from fairseq_xl.io.errors import InputError
from fairseq_xl.vectors.formats.fasttext import open_fasttext, word_vectors
from fairseq_xl.vectors.neighbours import nearest
from fairseq_xl.vectors.table import WordVectors, read_vectors


class KnownWords:
    """Reads each unknown word as the known word nearest to it by cosine, where that is near enough.

    Words without a letter, and those without a vector, stay: a number or a mark says nothing of another.

    Args:
        known: what unknown words may become.
        vectors: a file with the vectors of both. A .bin of fastText has one for every word, from its subwords.
        min_cosine: less than this is not near enough.

    Raises:
        InputError: a file that cannot be read, or has a vector for none of the known words.
    """

    def __init__(self, known: Collection[str], vectors: Path, min_cosine: float):
        self._settings = tuple(known), vectors, min_cosine
        self._known = frozenset(known)
        self._look_up = _look_up(vectors)
        self._table = self._look_up([word for word in known if _has_letter(word)])
        self._min_cosine = min_cosine
        self.found: dict[str, str] = {}
        """What each unknown word that was met is read as, itself where none is near enough."""
        if not len(self._table):
            raise InputError(f"{vectors} has a vector for none of the {len(known)} known words: give their language's")

    def read(self, tokens: Sequence[str]) -> list[str]:
        """The tokens (T), unknown ones as known ones."""
        new = [word for word in dict.fromkeys(tokens) if word not in self._known and word not in self.found]
        if new:
            self._find(new)
        return [self.found.get(word, word) for word in tokens]

    def __reduce__(self) -> tuple[type[KnownWords], tuple[tuple[str, ...], Path, float]]:
        # fastText's object cannot be copied or sent to another process: the file is read again.
        return KnownWords, self._settings

    def _find(self, words: Iterable[str]) -> None:
        self.found.update((word, word) for word in words)
        queries = self._look_up([word for word in words if _has_letter(word)])
        if not len(queries):
            return
        rows, cosines = nearest(self._table.matrix, queries.matrix, 1)
        for word, row, cosine in zip(queries.words, rows[:, 0], cosines[:, 0], strict=True):
            if cosine >= self._min_cosine:
                self.found[word] = self._table.words[row]


def _look_up(path: Path) -> Callable[[list[str]], WordVectors]:
    """A function that gives the vectors of those of some words that have one."""
    if path.suffix != ".bin":
        return read_vectors(path).select
    model = open_fasttext(path)
    return lambda words: WordVectors(*word_vectors(model, words))


def _has_letter(word: str) -> bool:
    return any(map(str.isalpha, word))
