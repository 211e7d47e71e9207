"""What several commands of this group share: how files of pairs are described."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairseq_xl.pairs.data.source import PairSource

SOURCE = (
    "FILE[,KEY=VALUE]… with these keys. The keys left, right and label name columns by numbers from 1 or names of the "
    "first row (default: 1, 2, 3). With label=none there are no labels. The key format is tsv, csv or jsonl (default: "
    "by the suffix). Quotes mean nothing in tsv. The key encoding names the encoding. By default the command finds it, "
    "and reports it unless it is UTF-8"
)
MOVED = "the data directory, where it has moved since training"
WORDS_LACKING = "the word vectors that the data directory was prepared with, for words that it does not hold"


def unlabelled(line: str) -> PairSource:
    """Pairs whose labels, if there are any, are of no concern.

    Raises:
        InputError: as :meth:`PairSource.parse`.
    """
    from fairseq_xl.pairs.data.source import PairSource

    source = PairSource.parse(line)
    return replace(source, options={**source.options, "label": "none"})
