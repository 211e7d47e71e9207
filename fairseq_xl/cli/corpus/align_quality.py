"""``fairseq-xl corpus align-quality`` and ``align-pages``: precision and recall of the aligners on gold alignments."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io.settings import GREATEST_SEED, argument, option


@dataclass(kw_only=True)
class AlignQuality:
    """Align two texts and compare with gold alignments. The strict scores count a pair when the gold alignment has the
    same pair. The lax scores count it when it shares a line of both sides with a gold pair. Lines without a counterpart
    are left out."""

    first: Path = option("text, a line a sentence", metavar="FILE")
    second: Path = option("text in the other language, a line a sentence", metavar="FILE")
    gold: Path = option(
        "lines like [0]:[0, 1], numbers of the first text's lines and the second's, from 0", metavar="FILE"
    )
    translation: Path | None = option(
        "translation of the second text into the first's language, line for line. It adds a row to the table",
        None,
        metavar="FILE",
    )
    parallel: tuple[Path, Path] | None = option(
        "sentences and their translations, from which the dictionary is learned besides the texts themselves",
        None,
        metavar=("FIRST", "SECOND"),
    )
    vecalign: str | None = option(
        "command that prints alignments. It adds a row to the table. In the command {first} and {second} stand for "
        "the files",
        None,
        metavar="COMMAND",
    )

    def run(self) -> None:
        from fairseq_xl.corpus.alignment.quality import compare, read_gold
        from fairseq_xl.io.lines import read_lines
        from fairseq_xl.text.parallel import check_equal_counts, read_parallel

        first, second = list(read_lines(self.first)), list(read_lines(self.second))
        gold = read_gold(self.gold, (len(first), len(second)))
        parallel = list(read_parallel(*self.parallel)) if self.parallel else []
        translation = None
        if self.translation:
            check_equal_counts(self.second, self.translation)
            translation = list(read_lines(self.translation))
        print(compare(first, second, gold, parallel, translation, self.vecalign).markdown())
        if len(first) != len(second):
            text = f"{len(first)} and {len(second)} lines: the paper would discard these texts before it looks at them"
            print(text, file=sys.stderr)


@dataclass(kw_only=True)
class AlignPages:
    """Align the paragraphs of pages in two languages and compare with their ids. A paragraph must have the same id in
    both languages, as in an office suite's help. The scores are strict: a pair counts when its two ids are equal. Pages
    have the same name in both folders. Paragraphs that are alike in both languages count as untranslated."""

    first: Path = argument("folder with a language's pages", metavar="DIR")
    second: Path = argument("folder with the other language's", metavar="DIR")
    drop: float = option(
        "leave out this share of the second language's paragraphs, for pages that differ more", 0.0, low=0, high=0.99
    )
    pages: int = option("look at N pages, evenly spread over the names", 0, low=0, metavar="N", shown="all")
    seed: int = option("seed of the choice that --drop makes", 1, low=0, high=GREATEST_SEED)

    def run(self) -> None:
        """Raises: InputError: folders without such pages."""
        from fairseq_xl.corpus.alignment.gold_pages import compare_pages, read_pages

        found = read_pages(self.first, self.second, self.pages, self.drop, self.seed)
        print(compare_pages(found).markdown())
