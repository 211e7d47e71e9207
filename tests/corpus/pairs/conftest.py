"""Pages whose lines are pairs, and corpora of them."""

from __future__ import annotations

import json

import numpy as np

from fairseq_xl.corpus.documents.document import Document, write_documents
from fairseq_xl.corpus.pairs.negatives import write_sentences
from fairseq_xl.corpus.pairs.pair import SPLITS
from fairseq_xl.corpus.pipeline import run_steps
from fairseq_xl.corpus.project import Project


def documents(pages: list[list[tuple[str, str]]], topics: list[int]) -> list[Document]:
    return [
        Document(
            f"p{k}",
            (f"http://e.example/{k}", f"http://f.example/{k}"),
            "link",
            ([a for a, _ in page], [b for _, b in page]),
            None,
            [([n], [n]) for n in range(len(page))],
            1.0,
            topic,
        )
        for k, (page, topic) in enumerate(zip(pages, topics, strict=True))
    ]


def make(folder, pages, *options) -> list[dict]:
    """The rows of a corpus that all steps from the negatives on made of pages."""
    (folder / "corpus.yaml").write_text("languages: [en, fr]\n")
    write_documents(folder / "topics.jsonl", documents(pages, [0] * len(pages)))
    common = ["negatives.folds=3", "negatives.low=-0.9", "negatives.high=1.0", "negatives.max_page_share=0.5"]
    count = write_sentences(Project.open(folder, common), folder / "s.txt")
    np.save(folder / "x.npy", np.random.default_rng(1).normal(size=(count, 6)))
    common.append(f"negatives.encoder=npy:{folder.absolute() / 'x.npy'}")
    run_steps(Project.open(folder, [*common, *options]), "negatives", "export", again=True)
    files = [folder / "export" / "data" / f"{split}.jsonl" for split in SPLITS]
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def site(seed: int) -> list[list[tuple[str, str]]]:
    """Pages with a menu, lines of several pages, and addresses that masking makes equal."""
    random = np.random.default_rng(seed)
    word = lambda: "".join(random.choice(list("abcdefgh"), 5))  # noqa: E731
    common = [(f"{word()} {word()}", f"{word()} {word()}") for _ in range(15)]
    pages = []
    for _ in range(24):
        own = [(f"{word()} {word()} {word()}", f"{word()} {word()}") for _ in range(4)]
        some = [common[k] for k in random.integers(0, len(common), 2)]
        mail = (f"Write to {word()}@x.example.org", f"Écrivez à {word()}@x.example.org")
        pages.append([("Home page", "Page d'accueil"), *own, *some, mail])
    return pages
