"""Databases in folders that cannot be written; compat/test_faults.py fills a disk."""

from contextlib import closing
from pathlib import Path

import pytest

from fairseq_xl.cli.main import main
from fairseq_xl.corpus.crawling.pages import Pages
from fairseq_xl.io.databases import Cache, connect
from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.data.corpus import Corpus

CLOSED = Path("/proc/self/task")  # to root, too

OPENERS = {
    "crawl": lambda: Pages(CLOSED),
    "corpus": lambda: Corpus(CLOSED / "a.sqlite"),
    "a folder": lambda: Corpus(CLOSED),
    "a cache": lambda: Cache(CLOSED / "a.sqlite", "a cache of tags"),
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


@pytest.mark.parametrize(
    "opened",
    [Corpus, lambda path: Corpus(path, must_exist=True), lambda path: Cache(path, "a cache of tags")],
    ids=["corpus", "corpus to read", "cache"],
)
def test_a_database_of_others_stays_as_it_is(opened, tmp_path):
    path = tmp_path / "a.sqlite"
    with closing(connect(path)) as db, db:
        db.execute("CREATE TABLE tags (mine)")
        db.execute("CREATE TABLE made (mine)")
    before = path.read_bytes()
    with pytest.raises(
        InputError, match=r"a\.sqlite is a database, but not a (corpus|cache of \w+): name another file"
    ):
        opened(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.sqlite"]


def test_what_is_only_read_is_not_written(tmp_path):
    path = tmp_path / "a.sqlite"
    path.touch()
    with pytest.raises(InputError, match="is a database, but not a corpus"):
        Corpus(path, must_exist=True)
    assert path.read_bytes() == b""
    Corpus(path).close()
    before = path.read_bytes()
    path.chmod(0o444)
    with closing(Corpus(path, must_exist=True)) as corpus:
        assert corpus.pair_counts() == {}
    assert path.read_bytes() == before


def test_tables_whose_making_was_broken_off_are_made(tmp_path):
    path = tmp_path / "a.sqlite"
    Corpus(path).close()
    with closing(connect(path)) as db, db:
        db.execute("DROP TABLE setting")
    with closing(Corpus(path)) as corpus:
        corpus.settle("minimum", 3)
        with pytest.raises(InputError, match=r"a\.sqlite was made with minimum 3, not 4: give that, or another corpus"):
            corpus.settle("minimum", 4)


def test_a_cache_answers_by_maker_and_text(tmp_path):
    with closing(Cache(tmp_path / "deep" / "tags.sqlite", "a cache of tags")) as cache:
        cache.put("one", ["a b", "c"], ["X Y", ""])
        assert cache.get("one", ["c", "d", "a b"]) == ["", None, "X Y"]
        assert cache.get("two", ["c"]) == [None]
    with closing(Cache(tmp_path / "deep" / "tags.sqlite", "a cache of tags")) as cache:
        assert cache.get("one", ["a b"]) == ["X Y"]
    (tmp_path / "x").write_text("no cache" * 999)
    for path, sentence in ((tmp_path / "x", "is not a cache of tags"), (tmp_path, "cannot be used")):
        with pytest.raises(InputError, match=sentence):
            Cache(path, "a cache of tags")
