"""The step ``topics``: what pages are about.

Latent Dirichlet allocation (Blei et al. 2003), the number of topics chosen by coherence.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fairseq_xl.corpus.documents.document import Document, read_documents, write_documents
from fairseq_xl.corpus.project import Project, Step
from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.packages import require
from fairseq_xl.io.settings import GREATEST_SEED, option
from fairseq_xl.report.figures import draw_picture
from fairseq_xl.report.tables import Table
from fairseq_xl.text.words import words

TOP, SHOWN = 20, 10
"""Words of a topic that its coherence is measured by, and those in the table."""


@dataclass
class TopicsSettings:
    """Section ``topics``."""

    model: str = option(
        "tomotopy, fast; gensim, with the paper's settings (give passes 300)",
        "tomotopy",
        choices=("tomotopy", "gensim"),
    )
    passes: int = option("rounds of tomotopy, or gensim's passes over the pages (the paper: 300)", 1000, low=1)
    seed: int = option("the same gives the same topics", 100, low=0, high=GREATEST_SEED)
    fewest: int = option("smallest number of topics to try", 5, low=1)
    most: int = option("largest number to try (the paper found 17 to 74 best)", 50)
    step: int = option("from one number to the next", 5, low=1)
    coherence: str = option(
        "what chooses the number of topics: c_v; u_mass, which is faster", "c_v", choices=("c_v", "u_mass")
    )
    min_pages: int = option("leave out words of fewer pages", 2, low=1)
    max_share: float = option("leave out words of more than this share of the pages", 0.5, low=0, high=1)
    min_letters: int = option("leave out shorter words; 1 for Chinese or Japanese", 3, low=1)
    few: int = option(
        "say which topics have fewer pages: negatives will be few there, or none. Numbers of topics that leave fewer "
        "pages each are not tried, but for the smallest. Lower it for a small site of many topics; 0 tries all",
        5,
        low=0,
    )


@dataclass(frozen=True)
class Topics:
    """A model of K topics.

    Attributes:
        words: the K topics' words, most probable first.
        shares: (M, K) of each topic in each page.
        coherence: mean over the topics; higher is better.
    """

    words: list[list[str]]
    shares: np.ndarray
    coherence: float


def bags_of(pages: Sequence[str], min_pages: int, max_share: float, min_letters: int) -> list[list[str]]:
    """The words of each page that can tell topics apart.

    Args:
        pages: their text.
        min_pages: leave out words of fewer pages.
        max_share: leave out words of more than this share of the pages: the, and what a menu repeats.
        min_letters: leave out shorter words, and those that are digits.
    """
    found = [[word for word in words(page) if len(word) >= min_letters and not word.isdigit()] for page in pages]
    spread = Counter(word for page in found for word in set(page))
    most = max_share * len(pages)
    return [[word for word in page if min_pages <= spread[word] <= most] for page in found]


def fit(bags: Sequence[Sequence[str]], count: int, model: str, passes: int, seed: int, coherence: str) -> Topics:
    """Fit ``count`` topics to pages that all have words.

    Args:
        bags: see :func:`bags_of`.
        model: ``gensim``, online variational Bayes with the paper's settings (section 2.2: update_every 1,
            chunksize 100, alpha auto, per_word_topics); ``tomotopy``, collapsed Gibbs sampling, which is faster.
        passes: over the pages (the paper: 300); tomotopy: rounds of sampling.
        seed: the same gives the same topics (the paper's random_state: 100).
        coherence: ``c_v`` or ``u_mass`` (Röder et al. 2015; the paper does not say which).

    Raises:
        InputError: a package that is missing.
    """
    found, shares = (_gensim if model == "gensim" else _tomotopy)(bags, count, passes, seed)
    return Topics(found, shares, _coherence(found, bags, coherence))


def _gensim(bags: Sequence[Sequence[str]], count: int, passes: int, seed: int) -> tuple[list[list[str]], np.ndarray]:
    models = require("gensim.models", "corpus")
    dictionary = require("gensim.corpora", "corpus").Dictionary(bags)
    counts = [dictionary.doc2bow(bag) for bag in bags]
    lda = models.LdaModel(
        corpus=counts,
        id2word=dictionary,
        num_topics=count,
        random_state=seed,
        update_every=1,
        chunksize=100,
        passes=passes,
        alpha="auto",
        per_word_topics=True,
    )
    gamma, _ = lda.inference(counts)
    shares = gamma / gamma.sum(1, keepdims=True)
    return [[word for word, _ in lda.show_topic(k, TOP)] for k in range(count)], shares


def _tomotopy(bags: Sequence[Sequence[str]], count: int, passes: int, seed: int) -> tuple[list[list[str]], np.ndarray]:
    lda = require("tomotopy", "corpus").LDAModel(k=count, seed=seed)
    for bag in bags:
        lda.add_doc(bag)
    lda.train(passes, workers=1)  # several would make it depend on their timing
    shares = np.array([document.get_topic_dist() for document in lda.docs])
    return [[word for word, _ in lda.get_topic_words(k, TOP)] for k in range(count)], shares


def _coherence(topics: list[list[str]], bags: Sequence[Sequence[str]], kind: str) -> float:
    dictionary = require("gensim.corpora", "corpus").Dictionary(bags)
    # gensim's own default is all processors, for which it starts processes anew each time.
    model = require("gensim.models", "corpus").CoherenceModel(
        topics=topics,
        texts=bags,
        corpus=[dictionary.doc2bow(bag) for bag in bags],
        dictionary=dictionary,
        coherence=kind,
        processes=1,
    )
    return float(model.get_coherence())


def best(fitted: dict[int, Topics]) -> int:
    """The number of topics with the greatest coherence to four digits, the smallest of equals.

    Raises:
        InputError: no number has one, as of topics whose words never meet.
    """
    known = {count: round(found.coherence, 4) for count, found in fitted.items() if np.isfinite(found.coherence)}
    if not known:
        raise InputError("no number of topics has a coherence: there is too little text; give more pages")
    return min(known, key=lambda count: (-known[count], count))


def counts(settings: TopicsSettings, pages: int) -> list[int]:
    """The numbers of topics to try. A small site has too few pages for many, however coherent their words are."""
    numbers = range(settings.fewest, settings.most + 1, settings.step)
    return [number for number in numbers if number == settings.fewest or number * settings.few <= pages]


def _inputs(project: Project, settings: TopicsSettings) -> list[Path]:
    if settings.fewest > settings.most:
        raise InputError(f"topics: from {settings.fewest} to {settings.most} there is no number to try")
    return [project.folder / "align.jsonl"]


def _work(project: Project, settings: TopicsSettings) -> dict[str, Any]:
    require("matplotlib", "report")  # before the long work, not after it
    documents = list(read_documents(project.folder / "align.jsonl"))
    pages = ["\n".join(first for first, _ in document.pairs()) for document in documents]
    bags = bags_of(pages, settings.min_pages, settings.max_share, settings.min_letters)
    filled = [place for place, bag in enumerate(bags) if bag]
    if len(filled) < 2:
        raise InputError(
            f"{len(filled)} of {len(pages)} pages have words to tell topics by: give more pages, or lower "
            "topics.min_pages and raise topics.max_share"
        )
    fitted = {}
    for count in counts(settings, len(filled)):
        fitted[count] = fit(
            [bags[place] for place in filled], count, settings.model, settings.passes, settings.seed, settings.coherence
        )
        print(f"{count} topics: coherence {fitted[count].coherence:.4f}", file=sys.stderr)
    chosen = best(fitted)
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


STEP = Step(TopicsSettings, _inputs, ["topics.jsonl", "topics/topics.md"], _work)
