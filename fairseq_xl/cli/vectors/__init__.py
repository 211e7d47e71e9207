"""Commands of word vectors: train, convert, invent and inspect what models predict."""

from __future__ import annotations

from fairseq_xl.cli.parsing import Table

COMMANDS: Table = {
    "train": ("fairseq_xl.cli.vectors.make:Train", "train fastText vectors on tokenised text"),
    "convert": ("fairseq_xl.cli.vectors.make:Convert", "change the format, the words or the geometry of vectors"),
    "random": ("fairseq_xl.cli.vectors.make:Random", "write seeded random unit vectors, the baseline"),
    "align": ("fairseq_xl.cli.vectors.align:Align", "rotate two languages' vectors into one space"),
    "join": ("fairseq_xl.cli.vectors.align:Join", "put several languages' vectors into one table"),
    "coverage": ("fairseq_xl.cli.vectors.inspect:Coverage", "say which dictionary words have no vector"),
    "neighbours": ("fairseq_xl.cli.vectors.inspect:Neighbours", "show the words nearest to given words"),
}

READABLE = (
    "fastText .bin, .npy with its words in a .vocab file beside it, or text (.vec, .txt, either "
    "gzipped, with or without a header line)"
)
WRITABLE = ".vec, .vec.gz, or .npy (its words go to a .vocab file beside it)"
DICTIONARY = "fairseq dictionary, the dict.LANGUAGE.txt that fairseq-preprocess writes"
