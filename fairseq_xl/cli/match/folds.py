"""``fairseq-xl match folds``: what cross-validation says, and its models together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io.settings import argument, option


@dataclass(kw_only=True)
class Folds:
    """Accuracy of cross-validation (mean and standard deviation over the folds, and over all their pairs, since folds
    may differ in size), and on a test set that of the folds' models: their mean, the majority of their votes and the
    mean of their probabilities.
    """

    folds: list[Path] = argument("of `match predict --split fold`", metavar="RECORD")
    test: list[Path] = option("of the same models on one labelled split", [], metavar="RECORD")
    output: Path | None = option("Markdown", None, alias="-o", shown="standard output", metavar="FILE")

    def run(self) -> None:
        """Compute and write.

        Raises:
            InputError: records without labels, two of one classifier and fold, test records of different pairs.
        """
        from fairseq_xl.cli.match.common import write
        from fairseq_xl.pairs.evaluation.cross_validation import table
        from fairseq_xl.pairs.evaluation.record import PairRecord

        found = table([PairRecord.read(path) for path in self.folds], [PairRecord.read(path) for path in self.test])
        write(found.markdown(), self.output)
