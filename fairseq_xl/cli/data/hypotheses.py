"""``fairseq-xl data hypotheses``: the translations in a log of fairseq-generate."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import argument, option, refuse_given


@dataclass(kw_only=True)
class Hypotheses:
    """Write the best translations in a fairseq-generate log, in the order of the sentences."""

    log: Path = argument("output of fairseq-generate (UTF-8; .gz is decompressed)")
    output: Path = option("file to write", alias="-o")
    like: Path | None = option(
        "a file with as many lines as sentences, such as the source: checks that none is missing", None
    )
    replace_unknown: str | None = option(
        "put a word in the place of each <unk>: the source word with the most attention (attention), or its "
        "translation where --lexicon knows one (lexicon). The log must be of fairseq-generate --print-alignment soft. "
        "Say so where you report scores",
        None,
        choices=("attention", "lexicon"),
    )
    spelling: Path | None = option(
        "for --replace-unknown: the source text that was preprocessed, with its unknown words spelled", None
    )
    as_read: Path | None = option(
        "for --replace-unknown: the text that was preprocessed, where `data known-words` wrote it from --spelling", None
    )
    lexicon: Path | None = option(
        "word translations, as fairseq-xl data lexicon writes them: lines with tabs or blanks, or FILE.json", None
    )
    subwords: str | None = option(
        "how the source's pieces of words are marked, where it has such (as fairseq's --post-process)",
        None,
        choices=("subword_nmt", "sentencepiece"),
    )
    max_distance: float | None = option(
        "pass over source words that are further than this from the word's place, in words. That place assumes the "
        "same word order in both languages",
        None,
        low=0,
        shown="no limit",
    )

    def run(self) -> None:
        from fairseq_xl.io.lexicons import read_translations
        from fairseq_xl.io.lines import count_lines
        from fairseq_xl.text.hypotheses import read_hypotheses, read_replaced

        self._check()
        best = read_hypotheses(self.log, count_lines(self.like) if self.like else None)
        if self.replace_unknown:
            assert self.spelling is not None
            lexicon = read_translations(self.lexicon) if self.lexicon else {}
            distance = math.inf if self.max_distance is None else self.max_distance
            best, counts = read_replaced(self.log, self.spelling, lexicon, self.subwords, distance, self.as_read)
            print(counts, file=sys.stderr)
        with atomic_text(self.output) as stream:
            stream.writelines(line + "\n" for line in best)

    def _check(self) -> None:
        chosen = f"--replace-unknown {self.replace_unknown}" if self.replace_unknown else "it"
        for name, given, needed in (
            ("spelling", self.spelling, self.replace_unknown is not None),
            ("lexicon", self.lexicon, self.replace_unknown == "lexicon"),
        ):
            if (given is not None) != needed:
                needs = "needs" if needed else "has no use for"
                raise InputError(f"data hypotheses: {chosen} {needs} --{name} FILE")
        if not self.replace_unknown:
            others = ["as_read", "subwords", "max_distance"]
            refuse_given(self, others, "is for --replace-unknown, which is not given")
