"""``fairseq-xl match statistics``: terms per sentence, and terms, sentences and pairs without a vector."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.cli.match.common import SOURCE
from fairseq_xl.io.settings import argument, option
from fairseq_xl.pairs.data.tokenizer import WordRules


@dataclass(kw_only=True)
class Statistics(WordRules):
    """Print how long the sentences of pairs are, and with --vectors what has no vector."""

    sources: list[str] = argument(SOURCE, metavar="SOURCE")
    vectors: Path | None = option(
        "word vectors (.vec, .txt, .npy, .bin); of a .bin, which has a vector for any word, the words that it was "
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
        from fairseq_xl.pairs.data.vocabulary import vector_words

        known = vector_words(self.vectors) if self.vectors else None
        print(table([PairSource.parse(line) for line in self.sources], self, known).markdown())
