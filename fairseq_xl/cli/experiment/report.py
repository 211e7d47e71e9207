"""``fairseq-xl experiment report``, ``curves`` and ``record``: what finished runs have to say."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.experiment.settings import ReportSettings
from fairseq_xl.io.atomic import real_path
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import argument, option

SUFFIXES = (".png", ".pdf", ".svg")


@dataclass(kw_only=True)
class Report(ReportSettings):
    """Write DIR/report. It holds tables as Markdown, LaTeX and CSV, figures as PNG and PDF, and the page index.html
    with all of them. The command reads finished runs alone, so you can repeat it while others still run. Their records
    tell translations, classes of sentences and pairs of sentences apart.
    """

    folder: Path = argument("--output of `fairseq-xl experiment run`", metavar="DIR")

    def run(self) -> None:
        from fairseq_xl.cli.experiment.kinds import KINDS
        from fairseq_xl.experiment.reporting import write_report

        print(write_report(self.folder, self, KINDS))


@dataclass
class Curves:
    """Plot training and validation loss of one or several runs of fairseq-train.

    The validation accuracy, mean cosine and BLEU that the logs have get panels of their own.
    """

    logs: list[Path] = argument(
        "written by fairseq-train --log-format json --log-file LOG, or the folder of a recipe's run, which holds a "
        "train.log",
        metavar="LOG",
    )
    labels: list[str] = option("one for each log", [], metavar="LABEL", shown="from its path")
    output: Path = option("picture to write: .png, .pdf or .svg", Path("curves.png"), alias="-o")
    title: str = option("title of the figure", "")
    x: str = option("horizontal axis", "epochs", choices=("epochs", "updates"))

    def run(self) -> None:
        """Draw and say where the picture is."""
        from fairseq_xl.report.curves import write_curves
        from fairseq_xl.report.training_log import read_training_log

        paths = [log_of(path) for path in self.logs]
        labels = self.labels or [label_of(path) for path in paths]
        if len(labels) != len(self.logs):
            raise InputError(
                f"--labels has {len(labels)} entries for {len(self.logs)} logs; give one for each, in order"
            )
        if self.output.suffix not in SUFFIXES:
            raise InputError(f"--output {self.output}: its name must end in {', '.join(SUFFIXES)}")
        logs = [(label, read_training_log(path)) for label, path in zip(labels, paths, strict=True)]
        write_curves(logs, self.output, self.x, self.title)
        print(self.output)


def log_of(path: Path) -> Path:
    """The log itself, or that of a run's folder.

    Raises:
        InputError: a folder without one.
    """
    if not path.is_dir():
        return path
    log = path / "train.log"
    if not log.is_file():
        raise InputError(f"{path} is a folder without a train.log: give the folder of a run, or a log")
    return log


def label_of(log: Path) -> str:
    """The file's name, or its folder's where the file's says nothing: runs/vmf/train.log -> vmf."""
    return real_path(log).parent.name if log.stem in ("train", "log") else log.stem


@dataclass
class Record:
    """Write one small JSON file that says what a run was and what it scored."""

    folder: Path = argument("folder of a run, as the recipes write it", metavar="RUN")
    about: list[str] = option("what the folder cannot say, such as loss=vmf source=de", [], metavar="KEY=VALUE")
    targets_run: Path | None = option(
        "folder of the run of a softmax, whose output vectors are this run's targets, for the time that it took", None
    )
    output: Path | None = option("file to write", None, alias="-o", shown="RUN/record.json")

    def run(self) -> None:
        from fairseq_xl.report.record import write_record

        about: dict[str, str] = {}
        for item in self.about:
            key, equals, value = item.partition("=")
            if not equals or not key or key in about:
                raise InputError(f"--about {item!r}: write KEY=VALUE, each key once")
            about[key] = value
        write_record(self.folder, about, self.output, self.targets_run)
