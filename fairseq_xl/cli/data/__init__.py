"""Commands of text and data: the steps between a corpus as it is published and what fairseq trains on."""

from __future__ import annotations

from fairseq_xl.cli.parsing import Table

COMMANDS: Table = {
    "fetch": ("fairseq_xl.cli.data.corpora:Fetch", "download a file (resumable), and unpack it safely"),
    "campaign": ("fairseq_xl.cli.data.corpora:Campaign", "IWSLT campaign files (XML or train.tags) to plain text"),
    "split": (
        "fairseq_xl.cli.data.corpora:Split",
        "cut sentence pairs into train, valid and test without a sentence in common",
    ),
    "synthetic": ("fairseq_xl.cli.data.corpora:Synthetic", "generate a small parallel corpus with a grammar"),
    "clean": ("fairseq_xl.cli.data.corpora:CleanPairs", "check a parallel corpus and handle its unfit pairs"),
    "tokenize": ("fairseq_xl.cli.data.tokens:Tokenize", "split sentences into Moses tokens"),
    "train-truecaser": ("fairseq_xl.cli.data.tokens:TrainTruecaser", "train a truecaser on tokenised text"),
    "truecase": ("fairseq_xl.cli.data.tokens:Truecase", "give the tokens their most frequent case"),
    "postprocess": ("fairseq_xl.cli.data.tokens:Postprocess", "from tokens to plain text: detruecase, detokenise"),
    "train-subwords": ("fairseq_xl.cli.data.tokens:TrainSubwords", "learn a subword vocabulary from tokenised text"),
    "encode-subwords": ("fairseq_xl.cli.data.tokens:EncodeSubwords", "split tokens into subwords"),
    "decode-subwords": ("fairseq_xl.cli.data.tokens:DecodeSubwords", "join subwords into tokens; needs no model"),
    "hypotheses": (
        "fairseq_xl.cli.data.hypotheses:Hypotheses",
        "the best translations in a fairseq-generate log, in order",
    ),
    "known-words": ("fairseq_xl.cli.data.lexicon:KnownWords", "read unknown words as the known ones nearest to them"),
    "lexicon": ("fairseq_xl.cli.data.lexicon:Lexicon", "word translations from parallel text"),
}
