"""``fairseq-xl data lexicon`` and ``known-words``: what the words of a text mean, and which they are most like."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import argument, option, refuse_given


@dataclass(kw_only=True)
class Lexicon:
    """Find out which words translate each other, from tokenised parallel text. Words are aligned by IBM model 1; any
    aligner's output in Pharaoh's format (fast_align, eflomal, awesome-align …) can be counted instead. The file serves
    `data hypotheses --replace-unk` and fairseq-generate's --replace-unk."""

    source: Path = argument("tokenised text, as the model's training data")
    target: Path = argument("its translation, line by line")
    output: Path = option(
        "file to write: lines of source word, target word and probability, best first; or FILE.json", alias="-o"
    )
    json: bool = option("write JSON, {word: [[translation, probability], …]}, whatever the file is called", False)
    alignments: Path | None = option(
        "an aligner's output: in line n the links i-j of sentence n, positions from 0, source first", None
    )
    best: int = option("most translations of a word. 1 is enough for translate --replace-unk", 5, low=1)
    min_probability: float = option(
        "leave out translations below this probability. Raise it for fewer and surer entries. At 0.1, two fifths of "
        "the best translations of words seen once in 29,000 captions were in held-out references. At 0.3 it was three "
        "fifths, of half as many translations",
        0.1,
        low=0,
        high=1,
    )
    min_count: int = option(
        "leave out source words with fewer occurrences, since their links are due to chance", 1, low=1
    )
    iterations: int = option(
        "iterations of expectation-maximisation. More of them sharpen the probabilities a little", 5, low=1
    )
    min_dice: float = option(
        "never link words that seldom meet. This is the least Dice coefficient of the sentences that hold them. Raise "
        "it where memory runs out",
        0.001,
        low=0,
        high=1,
    )

    def run(self) -> None:
        import numpy as np

        from fairseq_xl.io.lexicons import write_lexicon
        from fairseq_xl.text.lexicons import ibm1
        from fairseq_xl.text.lexicons.bitext import read_bitext
        from fairseq_xl.text.lexicons.lexicon import make_lexicon

        if self.alignments:
            refuse_given(self, ["iterations", "min_dice"], "is for IBM model 1, and --alignments brings other links")
        bitext = read_bitext(self.source, self.target)
        if self.alignments:
            counts, alone = ibm1.given_links(bitext, self.alignments)
        else:
            pairs = ibm1.candidates(bitext, self.min_dice)
            counts, alone = ibm1.expected_links(bitext, pairs, self.iterations), np.array(0)
        totals = np.asarray(counts.sum(1)).ravel() + alone
        lexicon = make_lexicon(bitext, counts, totals, self.min_probability, self.min_count, self.best)
        if not lexicon:
            raise InputError("no word has a translation: give more text, or lower --min-probability and --min-count")
        write_lexicon(lexicon, self.output, self.json or self.output.suffix == ".json")
        entries, words = sum(map(len, lexicon.values())), len(bitext.source.words)
        print(f"{self.output}: {entries} translations of {len(lexicon)} of {words} words", file=sys.stderr)


@dataclass(kw_only=True)
class KnownWords:
    """Write a tokenised text in which each word that a dictionary lacks is the known word nearest to it, by vectors
    that have subwords. A model then reads a rare compound as a word that it has learnt, not as <unk>. Words that are
    not near enough stay as they are, and so do numbers and marks. Choose --min-cosine on a development set. Where
    --replace-unk copies words from the source, it copies those of the original text."""

    source: Path = argument("tokenised text")
    dict: Path = option("the model's source dictionary, dict.LANG.txt", metavar="DICT")
    vectors: Path = option("vectors of `vectors train` with --max-subword, PREFIX.bin", metavar="FILE")
    output: Path = option("file to write", alias="-o")
    min_cosine: float = option(
        "how near the known word must be. A higher value replaces fewer words", 0.6, low=-1, high=1
    )

    def run(self) -> None:
        from fairseq_xl.io.atomic import atomic_text
        from fairseq_xl.io.lines import read_lines
        from fairseq_xl.vectors.dictionary import read_dictionary
        from fairseq_xl.vectors.substitutes import KnownWords as Reader

        reader = Reader(read_dictionary(self.dict), self.vectors, self.min_cosine)
        with atomic_text(self.output) as stream:
            stream.writelines(" ".join(reader.read(line.split())) + "\n" for line in read_lines(self.source))
        read = sum(word != known for word, known in reader.found.items())
        print(f"{self.output}: {read} of {len(reader.found)} unknown words read as known ones", file=sys.stderr)
