"""Pages to translate and to align."""

from __future__ import annotations

import sys

import pytest

from fairseq_xl.corpus.documents.document import Document, read_documents, write_documents
from fairseq_xl.corpus.pipeline import run_step
from fairseq_xl.corpus.project import Project

UPPER = [sys.executable, "-c", "import sys; [print(line.strip().upper()) for line in sys.stdin]"]


def document(number: int, first: list[str], second: list[str]) -> Document:
    return Document(f"/{number}", ("http://x/a", "http://x/b"), "link", (first, second))


NOUNS = {"chat": "cat", "chien": "dog", "pain": "bread", "livre": "book"}


VERBS = {"mange": "eats", "voit": "sees", "veut": "wants"}


DOCUMENTS = [
    document(
        0,
        [f"the {NOUNS[a]} {VERBS[v]} the {NOUNS[b]}" for a in NOUNS for v in VERBS for b in NOUNS],
        [f"le {a} {v} le {b}" for a in NOUNS for v in VERBS for b in NOUNS],
    ),
    document(1, ["something longer here"], ["chat chat", "chat"]),
]


WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]


def shuffled(name: str, order: list[int | None], size: int = 8) -> Document:
    """A page whose second side's line k translates line order[k] of the first; None: nothing of it."""
    first = [f"{WORDS[k]} {WORDS[k]}s {WORDS[k]}ing here" for k in range(size)]
    translation = ["something else altogether" if k is None else first[k] for k in order]
    return Document(name, (f"e/{name}", f"f/{name}"), "link", (first, [f"<{t}>" for t in translation]), translation)


@pytest.fixture
def run(tmp_path):
    def step(documents, *settings):
        (tmp_path / "corpus.yaml").write_text("languages: [en, fr]\n")
        write_documents(tmp_path / "translate.jsonl", documents)
        project = Project.open(tmp_path, ["align.ratio=1", *settings])
        run_step(project, "align", again=True)
        return {d.id: d for d in read_documents(tmp_path / "align.jsonl")}, project.report("align")

    return step
