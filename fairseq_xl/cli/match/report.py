"""``fairseq-xl match report``, ``folds`` and ``best``: tables from the records of pair classifiers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import argument, option


@dataclass(kw_only=True)
class Report:
    """Compare pair classifiers from the records that `predict`, `baseline` and `ensemble` write. Records of one name
    are runs (seeds) of one classifier. The command writes scores and differences as .md, .tex and .csv, and log-loss
    and reliability as .png and .pdf. Use `experiment report` for the runs of an experiment, which writes a page.
    """

    records: list[Path] = argument("records of the same labelled pairs", metavar="RECORD")
    output: Path = option("folder to write", alias="-o", metavar="DIR")
    against: str | None = option(
        "the classifier from which the differences are counted",
        None,
        shown="that with the lowest log loss",
        metavar="NAME",
    )
    paper: bool = option("put the figures of Hadgu 2018 beside (for its Spanish pairs)", False)
    samples: int = option("draws for the intervals", 2000, low=1, high=1_000_000)
    figures: bool = option("draw the figures beside the tables", True)

    def run(self) -> None:
        """Write the tables and print them.

        Raises:
            InputError: records that cannot be read or compared, an unknown classifier.
        """
        from fairseq_xl.io.folders import own_files
        from fairseq_xl.pairs.evaluation import comparison
        from fairseq_xl.pairs.evaluation.record import PairRecord, together
        from fairseq_xl.report.tables import write_table

        found = comparison.compare(together([PairRecord.read(path) for path in self.records]), self.samples)
        against = self.against or found.best
        if against not in found.measured:
            raise InputError(f"--against {against!r} is none of {', '.join(found.measured)}")
        paper = comparison.PAPER if self.paper else None
        tables = comparison.tables(found, against, paper)
        with own_files(self.output, "match report") as folder:
            for name, table in tables.items():
                write_table(table, folder, name)
            if self.figures:
                comparison.draw(found, folder, paper)
        for table in tables.values():
            print(table.markdown())


@dataclass(kw_only=True)
class Folds:
    """Print the accuracy of cross-validation: its mean and standard deviation over the folds. As folds may differ in
    size, the table also has the accuracy over all their pairs. On a test set it has the mean accuracy of the folds'
    models and that of the model with the best fold. It also has the accuracies of the majority of their votes and of
    the mean of their probabilities. Runs of other seeds on one split count as folds.
    """

    folds: list[Path] = argument("records of `match predict --split fold`", metavar="RECORD")
    test: list[Path] = option(
        "records of the same models on one labelled split, in the same order", [], metavar="RECORD"
    )
    against: str | None = option(
        "add each classifier's difference from this one over the folds that both have, with a paired t-test. Where "
        "there is one split alone, the test is over seeds",
        None,
        metavar="NAME",
    )
    output: Path | None = option("Markdown file to write", None, alias="-o", shown="standard output", metavar="FILE")

    def run(self) -> None:
        """Compute and write.

        Raises:
            InputError: records without labels, two of one classifier and fold, test records of different pairs.
        """
        from fairseq_xl.io.atomic import text_output
        from fairseq_xl.pairs.evaluation.cross_validation import table
        from fairseq_xl.pairs.evaluation.record import PairRecord

        folds, test = ([PairRecord.read(path) for path in paths] for paths in (self.folds, self.test))
        compared = table(folds, test, self.against)
        with text_output(self.output) as stream:
            stream.write(compared.markdown())


@dataclass(kw_only=True)
class Best:
    """Print the path of the record with the highest accuracy, the first of equal ones."""

    records: list[Path] = argument("records of `match predict --split fold`", metavar="RECORD")

    def run(self) -> None:
        """Raises: InputError: a record that cannot be read or has no labels."""
        from fairseq_xl.pairs.evaluation.cross_validation import accuracy
        from fairseq_xl.pairs.evaluation.record import PairRecord

        print(max(self.records, key=lambda path: accuracy(PairRecord.read(path))))
