"""The step that translates each line once and keeps it."""

from __future__ import annotations

import sys

import pytest

from fairseq_xl.corpus.alignment.translate import translate_lines
from fairseq_xl.corpus.documents.document import read_documents, write_documents
from fairseq_xl.corpus.pipeline import run_step
from fairseq_xl.corpus.project import Project
from fairseq_xl.io.databases import Cache
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lexicons import read_translations

from .conftest import DOCUMENTS, UPPER


class Counting:
    identity = "counting"

    def __init__(self, fails_after=None):
        self.batches, self.fails_after = [], fails_after

    def translate(self, lines):
        if len(self.batches) == self.fails_after:
            raise InputError("no more")
        self.batches.append(list(lines))
        return [f"<{line}>" for line in lines]


def test_each_line_is_translated_once_and_kept(tmp_path):
    cache = Cache(tmp_path / "c.sqlite", "a cache of translations")
    broken = Counting(fails_after=1)
    with pytest.raises(InputError, match="no more"):
        translate_lines(["a", "b", "a", "c", "d"], broken, cache, 2)
    cache.close()
    cache, whole = Cache(tmp_path / "c.sqlite", "a cache of translations"), Counting()
    assert translate_lines(["a", "b", "a", "c", "d", "e"], whole, cache, 2) == 3
    assert whole.batches == [["c", "d"], ["e"]]
    assert cache.get("counting", ["a", "f"]) == ["<a>", None]
    assert cache.get("another translator", ["a"]) == [None]


def project(folder, **settings):
    write_documents(folder / "extract.jsonl", DOCUMENTS)
    opened = Project(folder, ("en", "fr"), {"translate": settings})
    run_step(opened, "translate")
    return opened.report("translate"), list(read_documents(folder / "translate.jsonl"))


def test_step_with_an_induced_dictionary(tmp_path):
    counts, found = project(tmp_path)
    assert found[0].translation == DOCUMENTS[0].lines[0]
    assert found[1].translation == ["cat cat", "cat"]
    assert counts["words in the dictionary %"] == 100.0
    assert counts["translated now"] == counts["different lines"] == 50
    assert read_translations(tmp_path / "dictionary.tsv")["chien"] == "dog"
    assert project(tmp_path, dictionary="dictionary.tsv")[0]["translated now"] == 0


def test_step_with_a_command(tmp_path):
    counts, found = project(tmp_path, by="command", command=UPPER, batch=20)
    assert found[1].translation == ["CHAT CHAT", "CHAT"]
    assert counts["lines"] == 50
    script = tmp_path / "mine.py"
    for name in ("lower", "swapcase"):
        script.write_text(f"import sys\nfor line in sys.stdin:\n    print(line.strip('\\n').{name}())\n")
        counts, found = project(tmp_path, by="command", command=[sys.executable, str(script)])
        assert counts["translated now"] == 50, "a script that has changed is another translator"
        assert found[1].translation[0] == getattr(DOCUMENTS[1].lines[1][0], name)()


def test_step_with_a_file(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("".join(f"line {n}\n" for n in range(50)))
    _, found = project(tmp_path, by="file", file="mine.txt")
    assert found[0].translation[-1] == "line 47"
    assert found[1].translation == ["line 48", "line 49"]
    path.write_text("line 1\n")
    with pytest.raises(InputError, match="has 1 lines where the pages have 50"):
        project(tmp_path, by="file", file="mine.txt")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"by": "web"}, "translate.by is one of dictionary, model, command, file"),
        ({"by": "model"}, "set translate.model"),
        ({"by": "file"}, "set translate.file"),
        ({"by": "file", "file": "none.txt"}, "there is no .*none"),
        ({"dictionary": "none.tsv"}, "there is no .*none"),
    ],
)
def test_settings_that_cannot_be(tmp_path, settings, message):
    with pytest.raises(InputError, match=message):
        project(tmp_path, **settings)
