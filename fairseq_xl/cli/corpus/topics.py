"""``fairseq-xl corpus topics``: what each page is about."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fairseq_xl.cli.corpus.options import add_project, run_once
from fairseq_xl.corpus.documents import topics
from fairseq_xl.corpus.documents.document import Document, read_documents, write_documents
from fairseq_xl.corpus.documents.project import Project
from fairseq_xl.corpus.documents.topics import Topics
from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.packages import require
from fairseq_xl.report.figures import draw_picture
from fairseq_xl.report.tables import Table

SHOWN = 10
"""words of a topic in the table"""


@dataclass
class TopicsSettings:
    """Section ``topics``."""

    model: str = field(
        default="tomotopy", metadata={"help": "tomotopy, fast; gensim, with the paper's settings (give passes 300)"}
    )
    passes: int = field(
        default=1000, metadata={"help": "rounds of tomotopy, or gensim's passes over the pages (the paper: 300)"}
    )
    seed: int = field(default=100, metadata={"help": "the same gives the same topics"})
    fewest: int = field(default=5, metadata={"help": "smallest number of topics to try"})
    most: int = field(default=50, metadata={"help": "largest number to try (the paper found 17 to 74 best)"})
    step: int = field(default=5, metadata={"help": "from one number to the next"})
    coherence: str = field(
        default="c_v", metadata={"help": "what chooses the number of topics: c_v; u_mass, which is faster"}
    )
    min_pages: int = field(default=2, metadata={"help": "leave out words of fewer pages"})
    max_share: float = field(default=0.5, metadata={"help": "leave out words of more than this share of the pages"})
    min_letters: int = field(default=3, metadata={"help": "leave out shorter words; 1 for Chinese or Japanese"})
    few: int = field(
        default=5, metadata={"help": "say which topics have fewer pages: negatives will be few there, or none"}
    )

    def counts(self) -> list[int]:
        """The numbers of topics to try. Raises: InputError: settings that do not fit."""
        if self.model not in topics.MODELS:
            raise InputError(f"topics.model is {' or '.join(topics.MODELS)}, not {self.model!r}")
        if self.coherence not in topics.COHERENCES:
            raise InputError(f"topics.coherence is {' or '.join(topics.COHERENCES)}, not {self.coherence!r}")
        if self.passes < 1:
            raise InputError(f"topics.passes is {self.passes}: give 1 or more")
        if not (1 <= self.fewest <= self.most and self.step >= 1):
            raise InputError(f"topics: from {self.fewest} to {self.most} by {self.step} there is no number to try")
        return list(range(self.fewest, self.most + 1, self.step))


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the step's options."""
    parser.description = (
        "Fit topic models (LDA) with several numbers of topics to the first language's side of the aligned pages, "
        "take the most coherent one, and give each page its most frequent topic. DIR/topics holds the curve of "
        "coherence and the table of topics."
    )
    add_project(parser)


def run(args: argparse.Namespace) -> None:
    """Fit, choose, and write the documents.

    Raises:
        InputError: settings that do not fit, too little text, a package that is missing.
    """
    run_once(args, "topics", TopicsSettings, lambda project, _: [project.folder / "align.jsonl"], _work)


def _work(project: Project, settings: TopicsSettings) -> dict[str, Any]:
    counts = settings.counts()
    require("matplotlib", "report")  # before the long work, not after it
    documents = list(read_documents(project.folder / "align.jsonl"))
    pages = ["\n".join(first for first, _ in document.pairs()) for document in documents]
    bags = topics.bags(pages, settings.min_pages, settings.max_share, settings.min_letters)
    filled = [place for place, bag in enumerate(bags) if bag]
    if len(filled) < 2:
        raise InputError(
            f"{len(filled)} of {len(pages)} pages have words to tell topics by: give more pages, or lower "
            "topics.min_pages and raise topics.max_share"
        )
    fitted = {}
    for count in counts:
        fitted[count] = topics.fit(
            [bags[place] for place in filled], count, settings.model, settings.passes, settings.seed, settings.coherence
        )
        print(f"{count} topics: coherence {fitted[count].coherence:.4f}", file=sys.stderr)
    chosen = topics.best(fitted)
    topic = dict(zip(filled, fitted[chosen].shares.argmax(1).tolist(), strict=True))
    found = [replace(document, topic=topic.get(k)) for k, document in enumerate(documents)]
    write_documents(project.folder / "topics.jsonl", found)
    folder = project.folder / "topics"
    _write_curve(folder, fitted, settings)
    few = _write_table(folder, fitted[chosen], found, settings.few)
    return {
        "pages": len(found),
        "topics": chosen,
        "coherence": round(fitted[chosen].coherence, 4),
        f"topics with fewer than {settings.few} pages": len(few),
        "pages without a topic": len(found) - len(filled),
        "coherences": {str(count): round(one.coherence, 4) for count, one in fitted.items()},
    }


def _write_curve(folder: Path, fitted: dict[int, Topics], settings: TopicsSettings) -> None:
    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        axes.plot(list(fitted), [found.coherence for found in fitted.values()], marker="o")
        axes.set_xlabel("number of topics")
        axes.set_ylabel(f"coherence ({settings.coherence})")

    caption = f"Coherence ({settings.coherence}) by number of topics; {settings.model}, seed {settings.seed}"
    draw_picture(folder, "coherence", caption, draw, (6.0, 3.6))


def _write_table(folder: Path, model: Topics, documents: Sequence[Document], few: int) -> list[int]:
    """Write the topics, the largest first; say, and return, which have few pages."""
    pages = Counter(document.topic for document in documents)
    pairs: Counter[int | None] = Counter()
    for document in documents:
        pairs[document.topic] += sum(1 for _ in document.pairs())
    table = Table("Topics", ["topic", "pages", "pairs", "words"])
    for topic in sorted(range(len(model.words)), key=lambda k: (-pages[k], k)):
        words = ", ".join(model.words[topic][:SHOWN])
        table.add(str(topic), str(pages[topic]), str(pairs[topic]), words)
    with atomic_text(folder / "topics.md") as stream:
        stream.write(table.markdown())
    small = [topic for topic in range(len(model.words)) if pages[topic] < few]
    if small:
        listed = ", ".join(f"{topic} ({pages[topic]})" for topic in small)
        print(f"topics with fewer than {few} pages: {listed}", file=sys.stderr)
    return small
