"""``fairseq-xl corpus init``, and the steps of the pipeline, each alone and all together."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from fairseq_xl.corpus import STEPS
from fairseq_xl.io.settings import option, user_dir_option


@dataclass(kw_only=True)
class Init:
    """Make a project folder for a bilingual corpus. Its corpus.yaml holds every setting of every step with its help,
    commented out where it has its default."""

    project: Path = option("folder to make", metavar="DIR")
    languages: tuple[str, str] = option(
        "codes of both languages as in <html lang>; topics are found in the first: en fr", metavar="LANG"
    )
    base: list[str] = option("addresses that the crawl begins at, or folders of HTML files", metavar="URL|FOLDER")

    def run(self) -> None:
        from fairseq_xl.corpus.pipeline import create_project

        path = create_project(self.project, self.languages, self.base)
        print(f"{path}: edit it, then `fairseq-xl corpus run --project {self.project}`", file=sys.stderr)


@dataclass(kw_only=True)
class StepCommand:
    """What every step has in common."""

    step: ClassVar[str]
    project: Path = option("folder of the corpus", metavar="DIR")
    set: list[str] = option("settings that go before those in DIR/corpus.yaml", [], metavar="STEP.OPTION=VALUE")
    again: bool = option("run even if it is done with these settings and inputs", False)

    def run(self) -> None:
        from fairseq_xl.corpus.pipeline import run_step
        from fairseq_xl.corpus.project import Project

        run_step(Project.open(self.project, self.set), self.step, self.again)


@dataclass(kw_only=True)
class Crawl(StepCommand):
    """Fetch the pages of a website until there are no new ones, and find each one's counterpart in the other language.
    An interrupted crawl continues where it was. With --again the step fetches all pages anew. Where crawl.base names a
    folder of HTML files, the step reads these instead."""

    step = "crawl"


@dataclass(kw_only=True)
class Extract(StepCommand):
    """Turn the pages and their counterparts into lines of text in extract.jsonl. The step also writes the lines of each
    language into extract.LANG.txt, for you to read or to translate by other means."""

    step = "extract"


@dataclass(kw_only=True)
class Translate(StepCommand):
    """Translate the second language's lines into the first, so that the aligner can compare words. The step keeps the
    translation of each line in translations.sqlite. It continues when it is killed and started again, and it translates
    the same line once.
    """

    step = "translate"


@dataclass(kw_only=True)
class Align(StepCommand):
    """Find the lines of both languages that mean the same. Pages are aligned, repaired or discarded; DIR/align.jsonl
    holds those with pairs."""

    step = "align"


@dataclass(kw_only=True)
class Topics(StepCommand):
    """Fit topic models (LDA) with several numbers of topics to the first language's side of the aligned pages. The step
    takes the most coherent model and gives each page its most frequent topic. DIR/topics holds the curve of coherence
    and the table of topics."""

    step = "topics"


@dataclass(kw_only=True)
class Negatives(StepCommand):
    """Divide the pages into folds and a test split, and find negatives for each sentence. The negatives of a sentence
    come from other pages of its topic and fold, and their cosines with it are in a band. DIR/positives.tsv and
    DIR/negatives.tsv hold them."""

    step = "negatives"
    sentences: Path | None = option(
        "write the first language's sentences, a line each, to be encoded elsewhere, and stop",
        None,
        metavar="FILE",
        exclusive="only",
        writes=True,
    )
    quantiles: bool = option(
        "print the quantiles of cosines within topics, to set the band by, and stop", False, exclusive="only"
    )
    user_dir: Path | None = user_dir_option()

    def run(self) -> None:
        if self.sentences is None and not self.quantiles:
            super().run()
            return
        from fairseq_xl.corpus.pairs import negatives
        from fairseq_xl.corpus.project import Project

        project = Project.open(self.project, self.set)
        if self.sentences is None:
            negatives.show_quantiles(project)
        else:
            count = negatives.write_sentences(project, self.sentences)
            print(f"{self.sentences}: {count} sentences", file=sys.stderr)


@dataclass(kw_only=True)
class Export(StepCommand):
    """Write as many positives as negatives into DIR/export. The library `datasets` loads its files data/*.jsonl and
    README.md as they are. The step adds tables."""

    step = "export"


@dataclass(kw_only=True)
class Run(StepCommand):
    """Run crawl, extract, translate, align, topics, negatives and export. The command skips a step that is done with
    the same settings and inputs, so an interrupted run continues where it was."""

    first: str = option("begin here", "crawl", choices=STEPS)
    last: str = option("end here", "export", choices=STEPS)
    user_dir: Path | None = user_dir_option()

    def run(self) -> None:
        from fairseq_xl.corpus.pipeline import run_steps
        from fairseq_xl.corpus.project import Project

        run_steps(Project.open(self.project, self.set), self.first, self.last, self.again)
