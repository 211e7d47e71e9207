"""``fairseq-xl match words`` and ``statistics``: text as pair classifiers read it, and what of it has no vector."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.cli.match.common import SOURCE
from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_lines
from fairseq_xl.io.settings import argument, option
from fairseq_xl.io.tables import Table
from fairseq_xl.pairs.data.tokenizer import Tokenizer, WordRules


@dataclass(kw_only=True)
class Words(Tokenizer):
    """Write each different sentence once, as the words that pair classifiers read."""

    inputs: list[str] = argument(
        "text, a sentence a line. In a file of pairs numbers such as those of train.txt,2,4 name the columns with "
        "text. So do names of the first row and JSON keys. The keys format and encoding say what the file is",
        metavar="FILE[,COLUMN…][,KEY=VALUE…]",
    )
    output: Path = option("file to write", alias="-o", metavar="FILE")
    every_line: bool = option(
        "write every sentence, those that are repeated or have no words, too. Columns of sentences and of their "
        "translations then stay parallel line by line",
        False,
    )

    def run(self) -> None:
        """Write the sentences.

        Raises:
            InputError: a file that cannot be read or lacks a column.
        """
        seen: set[str] = set()
        with atomic_text(self.output) as stream:
            for given in self.inputs:
                for sentence in self._sentences(given):
                    if self.every_line or (sentence and sentence not in seen):
                        stream.write(sentence + "\n")
                    seen.add(sentence)
        print(f"{len(seen - {''})} sentences", file=sys.stderr)

    def _sentences(self, given: str) -> Iterator[str]:
        name, *said = given.split(",")
        columns = [word for word in said if "=" not in word]
        table = Table.parse(",".join([name, *(word for word in said if "=" in word)]))
        if not columns and said:
            raise InputError(f"{given!r} names no column with text: add one, such as {name},1")
        if not columns:
            yield from map(self.sentence, read_lines(name))
            return
        for _, cells in table.rows({column: column for column in columns}, even=self.every_line):
            yield from map(self.sentence, cells.values())


@dataclass(kw_only=True)
class Statistics(WordRules):
    """Print how long the sentences of pairs are, and with --vectors what has no vector."""

    sources: list[str] = argument(SOURCE, metavar="SOURCE")
    vectors: Path | None = option(
        "word vectors (.vec, .txt, .npy, .bin). A .bin has a vector for any word, so only the words that it was "
        "trained on count as known",
        None,
        metavar="FILE",
    )

    def run(self) -> None:
        """Print the table.

        Raises:
            InputError: a file that cannot be read.
        """
        from fairseq_xl.pairs.data.source import PairSource
        from fairseq_xl.pairs.data.statistics import table
        from fairseq_xl.vectors.table import read_words

        known = set(read_words(self.vectors)) if self.vectors else None
        print(table([PairSource.parse(line) for line in self.sources], self, known).markdown())
