"""``fairseq-xl match audit``: how many labelled pairs equal keys find, and how many of them rightly."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.cli.match.common import SOURCE
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import argument, option


@dataclass(kw_only=True)
class Audit:
    """Judge the keys that `match transfer-labels` matches sentences by on labelled pairs of English: which share of
    the matching pairs they recover, and how many pairs they find wrongly. Beside them stand exact match (without case
    and punctuation) and a classifier: logistic regression on TF-IDF similarities, which judges pairs of questions that
    it was not trained on (threshold 0.5).
    """

    source: str = argument(f"{SOURCE}; left and right are the English columns")
    show: int = option("print up to N wrongly found pairs of each method", 0, low=0, metavar="N")
    stop_words: Path | None = option(
        "English words that keys leave out, instead of the package's list: one list may be surer than another",
        None,
        metavar="FILE",
    )
    seed: int = option("of the classifier's folds", 1)

    def run(self) -> None:
        """Print the table and the wrong pairs.

        Raises:
            InputError: a source that cannot be read, has no labels or too few pairs.
        """
        from fairseq_xl.pairs.augmentation.audit import audit
        from fairseq_xl.pairs.augmentation.key import EnglishKey
        from fairseq_xl.pairs.data.source import PairSource

        pairs = list(PairSource.parse(self.source).pairs())
        if not pairs or pairs[0].label is None:
            raise InputError(f"{self.source!r} has no labelled pairs to judge by")
        table, methods = audit(pairs, EnglishKey.of_file(self.stop_words), self.seed)
        print(table.markdown())
        for name, found in methods.items() if self.show else ():
            wrong = [pair for pair, hit in zip(pairs, found, strict=True) if hit and not pair.label]
            print(f"{name}, wrongly found:")
            for pair in wrong[: self.show]:
                print(f"{pair.where}\t{pair.left}\t{pair.right}")
