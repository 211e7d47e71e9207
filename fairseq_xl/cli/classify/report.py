"""``fairseq-xl classify report`` and ``gain``: the paper's Tables 5 and 6 with intervals and tests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import argument, option


@dataclass(kw_only=True)
class Report:
    """Compare systems from the records that `predict --split` and `baseline` write. Records of one name are runs
    (seeds) of one system, unless they learnt from different numbers of sentences. The command writes scores.md, .tex
    and .csv, and a table of each class. It draws the macro-F1 and a confusion matrix of each system as .png and .pdf.
    It also draws the learning curve of systems that learnt from several numbers of the low-resource language's
    sentences. Use `experiment report` for the runs of an experiment, which writes a page."""

    records: list[Path] = argument("records", metavar="RECORD")
    output: Path = option("folder to write", alias="-o", metavar="DIR")
    system: str | None = option(
        "the system to test the others against by McNemar's test",
        None,
        metavar="NAME",
        shown="that with the highest macro-F1",
    )
    samples: int = option("draws for the intervals", 2000, low=1, high=1_000_000)
    figures: bool = option("draw the figures beside the tables", True)

    def run(self) -> None:
        """Write the tables and print the scores.

        Raises:
            InputError: records that cannot be read or compared, an unknown system.
        """
        from fairseq_xl.io.folders import own_files
        from fairseq_xl.report.tables import write_table
        from fairseq_xl.siamese.evaluation import comparison, records

        systems = comparison.group([records.read(path) for path in self.records])
        chosen = self.system or comparison.best(systems)
        if chosen not in systems:
            raise InputError(f"--system {chosen!r} is none of {', '.join(systems)}")
        found = comparison.compare(systems, chosen, self.samples)
        tables = comparison.tables(found)
        with own_files(self.output, "classify report") as folder:
            for name, table in tables.items():
                write_table(table, folder, name)
            if self.figures:
                comparison.draw(found, folder)
        print(tables["scores"].markdown())


@dataclass(kw_only=True)
class Gain:
    """Print what one system gains over another, language by language and on average, with intervals. The gain of the
    Siamese encoder of two languages over the monolingual one says whether there is transfer. Its gain over the control
    whose labels are shuffled says whether the labels transfer. In names {low} and {high} stand for the codes of a
    record's languages."""

    records: list[Path] = argument("records of several languages and runs", metavar="RECORD")
    system: str = option("name of the system that may gain", "SSC({low}-{high})", metavar="NAME")
    over: str = option("name of the system to compare it with", "SSC({low}-{low})", metavar="NAME")
    samples: int = option("draws for the intervals", 2000, low=1, high=1_000_000)
    output: Path | None = option("also write the table to this file, as Markdown", None, alias="-o", metavar="FILE")

    def run(self) -> None:
        """Print the table.

        Raises:
            InputError: records that cannot be read or compared.
        """
        from fairseq_xl.siamese.evaluation import records
        from fairseq_xl.siamese.evaluation.gain import gains

        table = gains([records.read(path) for path in self.records], self.system, self.over, self.samples)
        text = table.markdown()
        if self.output:
            with atomic_text(self.output) as stream:
                stream.write(text)
        print(text)
