"""Databases in folders that cannot be written; compat/test_faults.py fills a disk."""

from pathlib import Path

import pytest

from fairseq_xl.cli.main import main
from fairseq_xl.corpus.alignment.translate import Cache
from fairseq_xl.corpus.crawling.pages import Pages
from fairseq_xl.io.databases import connect
from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.data.corpus import Corpus
from fairseq_xl.syntactic.tagging.tagging import TagCache

CLOSED = Path("/proc/self/task")  # to root, too

OPENERS = {
    "crawl": lambda: Pages(CLOSED),
    "translations": lambda: Cache(CLOSED / "a.sqlite", "x"),
    "corpus": lambda: Corpus(CLOSED / "a.sqlite"),
    "a folder": lambda: Corpus(CLOSED),
    "tags": lambda: TagCache(CLOSED / "a.sqlite"),
}


@pytest.mark.parametrize("name", OPENERS)
def test_a_folder_that_cannot_be_written(name):
    with pytest.raises(InputError, match=f"^the database {CLOSED}.* cannot be used .unable to open database file"):
        OPENERS[name]()


def test_label_transfer_into_one(tmp_path, capsys):
    (tmp_path / "sentences.tsv").write_text("uno\tone\nuna\tone\n")
    words = ["match", "transfer-labels", "--sentences", tmp_path / "sentences.tsv", "-o", CLOSED / "transferred.tsv"]
    assert main(list(map(str, words))) == 2
    assert f"error: cannot write {CLOSED}/transferred.tsv" in capsys.readouterr().err


def test_a_database_that_may_be_read_only(tmp_path):
    connect(tmp_path / "a").execute("CREATE TABLE x (y)")
    database = connect(f"file:{tmp_path}/a?mode=ro", uri=True)
    with pytest.raises(InputError, match="readonly database"):
        database.execute("INSERT INTO x VALUES (1)")


def test_a_damaged_database_is_named(tmp_path):
    path = tmp_path / "a.sqlite"
    with connect(path) as db:
        db.execute("create table t (x)")
        db.executemany("insert into t values (?)", [("x" * 500,) for _ in range(200)])
    db.close()
    good = path.read_bytes()
    path.write_bytes(good[:4096] + b"\xff" * 8192 + good[12288:])
    with pytest.raises(InputError, match=r"a\.sqlite is damaged \(.*\): make it again"):
        connect(path).execute("select count(*) from t where x > ''").fetchall()
