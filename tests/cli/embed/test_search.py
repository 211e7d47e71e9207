"""``fairseq-xl embed search``."""

from __future__ import annotations

import io
import json
import sys

import numpy as np
import pytest

from fairseq_xl import SentenceEncoder
from fairseq_xl.cli.main import main

CORPUS = ["der hund rennt .", "the red cat sees a dog .", "Der Hund rennt!", "a cat .", "the dog sees a red cat ."]


@pytest.fixture
def search(packed, tmp_path, monkeypatch):
    (tmp_path / "corpus.txt").write_text("\n".join(CORPUS) + "\n")

    def of(text, *options):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        files = ["--corpus", tmp_path / "corpus.txt", "--index", tmp_path / "index", "--device", "cpu"]
        return main(["embed", "search", *map(str, [packed, *files, *options])])

    return of


def test_the_nearest_but_the_sentence_itself(search, packed, capsys):
    assert search("DER HUND RENNT.\na dog .\n", "-k", 2) == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    vectors = SentenceEncoder.load(packed, "cpu").encode([*CORPUS, "DER HUND RENNT.", "a dog ."], normalize=True)
    for answer, query, candidates in ((first, 5, [1, 3, 4]), (second, 6, [0, 1, 2, 3, 4])):
        cosines = vectors[candidates] @ vectors[query]
        nearest = [candidates[place] for place in np.argsort(-cosines)[:2]]
        assert [hit["text"] for hit in answer["found"]] == [CORPUS[place] for place in nearest]
        assert [hit["line"] for hit in answer["found"]] == [place + 1 for place in nearest]
        assert [hit["cosine"] for hit in answer["found"]] == pytest.approx(sorted(cosines, reverse=True)[:2], abs=1e-5)
    assert first["sentence"] == "DER HUND RENNT."


def test_an_empty_sentence(search, capsys):
    assert search("a dog .\n\n") == 2
    assert "standard input, line 2: the sentence is empty" in capsys.readouterr().err
