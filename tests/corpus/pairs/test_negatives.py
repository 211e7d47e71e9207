"""The step that finds negatives, by its command."""

from __future__ import annotations

import numpy as np
import pytest

from fairseq_xl.cli.main import main
from fairseq_xl.corpus.documents.document import write_documents
from fairseq_xl.corpus.pairs.negatives import NegativesSettings, encode
from fairseq_xl.corpus.pairs.positives import read_positives
from fairseq_xl.corpus.project import Project

from .conftest import documents


@pytest.fixture
def run(tmp_path):
    def step(*options):
        (tmp_path / "corpus.yaml").write_text("languages: [en, fr]\nnegatives: {folds: 2, test: 0}\n")
        pages = [[(f"word{p} term{p} x{k}", f"mot{p} nom{p} y{k}") for k in range(3)] for p in range(8)]
        write_documents(tmp_path / "topics.jsonl", documents(pages, [p % 2 for p in range(8)]))
        return main(["corpus", "negatives", "--project", str(tmp_path), *options])

    return step


def test_the_step_from_an_array(run, tmp_path, capsys):
    run("--sentences", str(tmp_path / "s.txt"))
    count = len((tmp_path / "s.txt").read_text().splitlines())
    angle = np.random.default_rng(1).uniform(0, 0.8, count)
    np.save(tmp_path / "x.npy", np.stack([np.cos(angle), np.sin(angle)], 1))
    setting = f"negatives.encoder=npy:{tmp_path / 'x.npy'}"
    run("--quantiles", "--set", setting)
    assert "50.0% are below" in capsys.readouterr().err
    run("--set", setting)
    report = Project.open(tmp_path).report("negatives")
    rows = read_positives(tmp_path / "positives.tsv")
    assert len(rows) == report["positives"] == count == 24
    lines = [line.split("\t") for line in (tmp_path / "negatives.tsv").read_text().splitlines()[1:]]
    assert len(lines) == report["negatives"] > 0
    for left, right, cosine, *texts in lines:
        one, other = rows[int(left)], rows[int(right)]
        assert (one.topic, one.fold) == (other.topic, other.fold)
        assert one.page != other.page
        assert 0.8 < float(cosine) < 0.9
        assert texts == [one.first, other.first, other.second]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("low=0.95", "low < high"),
        ("each=0", "negatives.each is 0"),
        ("near=0", "negatives.near is 0"),
        ("folds=1", "negatives.folds is 1: give a number from 2"),
        ("folds=7", "too few for 7 folds"),
        ("encoder=x:y", "there is no encoder"),
        ("components=1", "negatives: components are of averaged word vectors: name them as encoder, or leave them at"),
        ("each=1", "negatives.encoder is missing: name an encoder's folder"),
    ],
)
def test_settings_that_do_not_fit(run, capsys, setting, message):
    assert run("--set", f"negatives.{setting}") == 2
    assert message in capsys.readouterr().err


def test_pages_without_a_sentence_of_their_own(tmp_path, capsys):
    write_documents(tmp_path / "topics.jsonl", documents([[("Home page", "Accueil")]] * 3, [0, 0, 0]))
    (tmp_path / "corpus.yaml").write_text("languages: [en, fr]\n")
    assert main(["corpus", "negatives", "--project", str(tmp_path)]) == 2
    assert (
        "no sentence is left: {'pairs in': 3, 'left out, on too many pages': 3}; raise negatives.max_page_share"
        in capsys.readouterr().err
    )


def test_a_band_without_sentences(run, tmp_path, capsys):
    np.save(tmp_path / "x.npy", np.ones((24, 2)))
    assert run("--set", f"negatives.encoder=npy:{tmp_path / 'x.npy'}") == 2
    assert "no sentence has a negative" in capsys.readouterr().err


def test_vectors_have_length_one_or_none(tmp_path):
    (tmp_path / "v.vec").write_text("3 2\nred 1 0\nblue 0 1\nthe 1 1\n")
    settings = NegativesSettings(encoder="vectors:v.vec")
    found = encode(Project(tmp_path, ("en", "fr"), {}), settings, ["the RED", "the the", "unknown"])
    a, the, red = 1e-3, 3 / 5, 1 / 5  # of five words, one of them unknown
    expected = np.array([a / (a + red) + a / (a + the), a / (a + the)])
    assert found[0] == pytest.approx(expected / np.linalg.norm(expected), rel=1e-5)
    assert found[2].tolist() == [0, 0]
