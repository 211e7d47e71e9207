"""Which baseline is trained on what, and what it classifies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import GREATEST_SEED, argument, option, refuse_unread
from fairseq_xl.siamese.baselines import BASELINES


@dataclass(kw_only=True)
class Settings:
    """A baseline, the text that it learns from, and the split that it classifies."""

    baseline: str = argument(
        "asv, mv-rnn, dsc-t, mnb-h, bilstm-w, bilstm-c (the paper's), svm, fasttext, st (newer)",
        choices=tuple(BASELINES),
        metavar="NAME",
    )
    data: Path = argument("data directory")
    split: str = option("what to classify", "test", choices=("valid", "test"))
    seed: int = option("seed of the training", 1, low=0, high=GREATEST_SEED)
    with_high_resource: bool = option(
        "learn from the high-resource language's training text as well. The data directory has it as it is, "
        "translated word for word, or with shuffled labels",
        False,
    )
    more_text: Path | None = option(
        "unlabelled sentences of the language for the word vectors of asv and dsc-t, which were designed for millions "
        "of sentences",
        None,
        metavar="FILE",
    )
    model: str | None = option("name or folder of a sentence-transformers model, for st", None, metavar="NAME")
    parses: Path | None = option(
        "bracketed trees of the training, development and test texts, one a line, for mv-rnn", None, metavar="FILE"
    )

    def check(self) -> None:
        """Raises: InputError: options that exclude each other, or that the baseline does not read."""
        if self.with_high_resource and self.baseline == "mv-rnn":
            raise InputError("mv-rnn has parses of one language: leave out --with-high-resource")
        if self.baseline == "mv-rnn" and self.split != "test":
            raise InputError("mv-rnn classifies the test split alone")
        refuse_unread(self, self.baseline, {"more_text": ("asv", "dsc-t"), "model": ("st",), "parses": ("mv-rnn",)})
