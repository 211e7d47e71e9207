"""The record that flows through the pipeline."""

from __future__ import annotations

import pytest

from fairseq_xl.corpus.documents.document import Document, read_documents, write_documents
from fairseq_xl.io.errors import InputError

DOCUMENT = Document(
    "/a",
    ("http://x/a", "http://x/fr/a"),
    "pattern",
    (["one two", "three four", "five"], ["un deux trois quatre", "cinq"]),
    ["one two three four", "five"],
    [([0, 1], [0]), ([2], [1]), ([], [1])],
    0.5,
    3,
)


def test_comes_back_as_it_was(tmp_path):
    bare = Document("/b", ("http://x/b", "http://x/fr/b"), "link", (["é\u2028x"], ["y"]))
    assert write_documents(tmp_path / "d.jsonl", [DOCUMENT, bare]) == 2
    assert list(read_documents(tmp_path / "d.jsonl")) == [DOCUMENT, bare]


def test_pairs_are_the_beads_with_two_sides():
    assert list(DOCUMENT.pairs()) == [("one two three four", "un deux trois quatre"), ("five", "cinq")]
    assert list(Document("/b", ("", ""), "link", ([], [])).pairs()) == []


@pytest.mark.parametrize("line", ["{", "[]", "{}", '{"id": 1, "urls": [], "lines": [], "more": 1}'])
def test_what_is_no_document(tmp_path, line):
    write_documents(tmp_path / "d.jsonl", [DOCUMENT])
    with (tmp_path / "d.jsonl").open("a") as stream:
        stream.write(line + "\n")
    with pytest.raises(InputError, match="line 2: no document"):
        list(read_documents(tmp_path / "d.jsonl"))
