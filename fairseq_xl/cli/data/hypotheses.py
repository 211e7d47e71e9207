"""``fairseq-xl data hypotheses``: the translations in a log of fairseq-generate."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import argument, option, refuse_given
from fairseq_xl.text.subwords import SUBWORDS


@dataclass(kw_only=True)
class Hypotheses:
    """Write the best translations in a fairseq-generate log, in the order of the sentences."""

    log: Path = argument("output of fairseq-generate (UTF-8; .gz is decompressed)")
    output: Path = option("file to write", alias="-o")
    like: Path | None = option(
        "a file with as many lines as sentences, such as the source: checks that none is missing", None
    )
    replace_unk: bool = option(
        "put the source word with the most attention in the place of each <unk>. Punctuation is passed over. The log "
        "must be of fairseq-generate --print-alignment soft. Say so where you report scores",
        False,
    )
    spelling: Path | None = option(
        "with --replace-unk: the source text that was preprocessed, with its unknown words spelled", None
    )
    as_read: Path | None = option(
        "with --replace-unk: the text that was preprocessed, where `data known-words` wrote it from --spelling", None
    )
    lexicon: Path | None = option(
        "with --replace-unk, put what this file of `fairseq-xl data lexicon` says of that source word: lines with tabs "
        "or blanks, or FILE.json",
        None,
    )
    subwords: str | None = option(
        "how the source's pieces of words are marked, where it has such (as fairseq's --post-process)",
        None,
        choices=SUBWORDS,
    )
    replace_unk_distance: float | None = option(
        "with --replace-unk, pass over source words that are more than N words away from the unknown one's place. "
        "That place assumes the same word order in both languages",
        None,
        low=0,
        metavar="N",
        shown="no limit",
    )

    def run(self) -> None:
        from fairseq_xl.io.lexicons import read_translations
        from fairseq_xl.io.lines import count_lines
        from fairseq_xl.text.hypotheses import read_hypotheses, read_replaced

        self._check()
        best = read_hypotheses(self.log, count_lines(self.like) if self.like else None)
        if self.replace_unk:
            assert self.spelling is not None
            lexicon = read_translations(self.lexicon) if self.lexicon else {}
            distance = math.inf if self.replace_unk_distance is None else self.replace_unk_distance
            best, counts = read_replaced(self.log, self.spelling, lexicon, self.subwords, distance, self.as_read)
            print(counts, file=sys.stderr)
        with atomic_text(self.output) as stream:
            stream.writelines(line + "\n" for line in best)

    def _check(self) -> None:
        if not self.replace_unk:
            others = ["spelling", "as_read", "lexicon", "subwords", "replace_unk_distance"]
            refuse_given(self, others, "is for --replace-unk, which is not given")
        elif self.spelling is None:
            raise InputError("data hypotheses: --replace-unk needs --spelling FILE")
