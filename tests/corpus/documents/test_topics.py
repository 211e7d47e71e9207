"""Topics of pages made from two word lists, with both packages."""

from __future__ import annotations

import random

import numpy as np
import pytest

from fairseq_xl.corpus.documents import topics
from fairseq_xl.corpus.documents.document import Document, read_documents, write_documents
from fairseq_xl.corpus.documents.topics import Topics
from fairseq_xl.corpus.pipeline import run_step
from fairseq_xl.corpus.project import Project
from fairseq_xl.io.errors import InputError

SEA = ["boat", "harbour", "sail", "tide", "captain", "wave", "anchor", "island", "fish", "storm"]
BANK = ["money", "loan", "credit", "account", "savings", "interest", "bank", "card", "mortgage", "deposit"]


def page(number: int) -> Document:
    """Even pages are about the sea, odd ones about money."""
    draw = random.Random(number)
    lines = [" ".join(["the", *draw.choices((SEA, BANK)[number % 2], k=8)]) for _ in range(6)]
    beads = [([k], [k]) for k in range(6)]
    return Document(f"p{number}", ("e", "f"), "link", (lines, lines), lines, beads, 1.0)


@pytest.fixture
def run(tmp_path):
    def step(documents, *settings):
        (tmp_path / "corpus.yaml").write_text("languages: [en, fr]\n")
        write_documents(tmp_path / "align.jsonl", documents)
        project = Project.open(tmp_path, settings)
        run_step(project, "topics", again=True)
        return list(read_documents(tmp_path / "topics.jsonl")), project.report("topics")

    return step


def test_words_that_tell_nothing_are_left_out():
    pages = ["the cat sat 2024 on it", "the cat ran far", "the dog ran home", "the bird"]
    assert topics.bags_of(pages, 2, 0.5, 3) == [["cat"], ["cat", "ran"], ["ran"], []]


@pytest.mark.parametrize(("model", "passes"), [("tomotopy", 50), ("gensim", 20)])
@pytest.mark.parametrize("coherence", ["u_mass", "c_v"])
def test_two_kinds_of_pages_are_found(run, tmp_path, capsys, model, passes, coherence):
    documents = [page(number) for number in range(16)]
    settings = [f"topics.model={model}", f"topics.passes={passes}", f"topics.coherence={coherence}"]
    settings += ["topics.fewest=2", "topics.most=3", "topics.step=1", "topics.max_share=0.9"]
    found, report = run(documents, *settings)
    assert report["coherences"].keys() == {"2", "3"}
    values = report["coherences"]
    assert report["topics"] == (2 if values["2"] >= values["3"] else 3)
    if report["topics"] == 2:
        assert len({document.topic for document in found[::2]}) == 1
    assert {d.topic for d in found[::2]}.isdisjoint(d.topic for d in found[1::2])
    table = (tmp_path / "topics" / "topics.md").read_text()
    assert "anchor" in table
    assert (tmp_path / "topics" / "coherence.png").stat().st_size
    assert run(documents, *settings)[0] == found
    capsys.readouterr()
    _, report = run(documents, *settings, "topics.few=9")  # of 16 pages two topics have eight each
    assert report["coherences"].keys() == {"2"}
    assert "topics with fewer than 9 pages" in capsys.readouterr().err


def test_a_page_without_words_has_no_topic(run):
    documents = [page(number) for number in range(6)]
    documents[3].beads = []
    settings = ["topics.fewest=2", "topics.most=2", "topics.max_share=0.9", "topics.passes=20"]
    found, report = run(documents, *settings, "topics.coherence=u_mass")
    assert found[3].topic is None
    assert report["pages without a topic"] == 1


@pytest.mark.parametrize(
    ("few", "pages", "tried"),
    [(5, 46, [5]), (5, 50, [5, 10]), (5, 1000, [5, 10, 15]), (5, 3, [5]), (0, 3, [5, 10, 15])],
)
def test_few_pages_have_few_topics(few, pages, tried):
    assert topics.counts(topics.TopicsSettings(fewest=5, most=15, few=few), pages) == tried


def test_the_smallest_of_the_best_numbers():
    shares = np.ones((1, 1))
    fitted = {k: Topics([], shares, value) for k, value in [(5, 0.4), (10, 0.6), (15, 0.6), (20, np.nan)]}
    assert topics.best(fitted) == 10
    with pytest.raises(InputError, match="no number of topics has a coherence"):
        topics.best({5: fitted[20]})


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("topics.model=lsa", "topics.model is one of tomotopy, gensim"),
        ("topics.coherence=x", "topics.coherence is one of c_v, u_mass"),
        ("topics.fewest=60", "there is no number to try"),
        ("topics.passes=0", "topics.passes is 0: give a number from 1"),
        ("topics.min_pages=20", "0 of 4 pages have words"),
    ],
)
def test_settings_that_do_not_fit(run, setting, message):
    with pytest.raises(InputError, match=message):
        run([page(number) for number in range(4)], setting)
