"""The exported corpus: balance, splits without common pages or sentences, masks, and files."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairseq_xl.corpus.pairs import export
from fairseq_xl.corpus.pairs.pair import SPLITS
from fairseq_xl.corpus.pairs.positives import Placed
from fairseq_xl.corpus.pipeline import run_step
from fairseq_xl.corpus.project import Project
from fairseq_xl.io.errors import InputError
from fairseq_xl.text.words import key

from .conftest import make, site


def placed(fold: int, number: int) -> Placed:
    return Placed(f"p{number}", 0, fold, f"first {number}", f"second {number}")


@given(
    st.lists(st.integers(-1, 2), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40, unique=True),
    st.integers(0, 9),
)
def test_balance(folds, links, seed):
    positives = [placed(fold, k) for k, fold in enumerate(folds)]
    negatives = [(a, b, 0.85) for a, b in links if a < len(folds) > b and a != b and folds[a] == folds[b]]
    kept, chosen = export.balanced(positives, negatives, seed)
    assert len(set(kept)) == len(kept)
    assert len(set(chosen)) == len(chosen)
    assert set(chosen) <= set(negatives)
    for fold in set(folds):
        here = [k for k in kept if folds[k] == fold]
        possible = [n for n in negatives if folds[n[0]] == fold]
        assert len(here) == len([n for n in chosen if folds[n[0]] == fold])
        assert len(here) == min(folds.count(fold), len(possible))
        # As many positives as can be have a negative of their own.
        assert {n[0] for n in chosen if folds[n[0]] == fold} == {n[0] for n in possible}
        assert {n[0] for n in possible} <= set(here)


def test_second_sentences_take_turns():
    positives = [placed(0, k) for k in range(4)]
    negatives = [(a, b, 0.8) for a in range(4) for b in range(4) if a != b]
    _, chosen = export.balanced(positives, negatives, 1)
    assert sorted(b for _, b, _ in chosen) in ([0, 1, 2, 3], [0, 0, 1, 2], [0, 0, 1, 3], [0, 1, 1, 2])
    assert len(chosen) == 4


# -- all steps from topics on


@settings(max_examples=5)
@given(st.integers(0, 1000), st.booleans())
def test_no_page_and_no_sentence_on_both_sides(tmp_path_factory, seed, mask):
    rows = make(tmp_path_factory.mktemp("corpus"), site(seed), f"export.mask={mask}", "export.shallow_baseline=false")
    for sides in ("split", "fold"):
        places: dict[str, set] = {}
        for row in rows:
            for name in ("sentence1", "sentence2"):
                places.setdefault("s " + key(row[name]), set()).add(row[sides])
            for name in ("document1", "document2"):
                places.setdefault("d " + row[name], set()).add(row[sides])
        assert {len(found) for found in places.values()} == {1}
    assert sum(row["label"] for row in rows) * 2 == len(rows)
    assert len({row["id"] for row in rows}) == len(rows)
    assert not any("home" in row["sentence1"].lower() for row in rows)


def test_files(tmp_path):
    pages = site(7)
    rows = make(tmp_path, pages, "export.mask=true", "export.parquet=true")
    assert {row["split"] for row in rows} == set(SPLITS)
    assert all((row["fold"] is None) == (row["split"] == "test") for row in rows)
    for row in rows:
        assert row["url1"] == f"http://e.example/{row['document1'][1:]}"
        assert (row["document1"] == row["document2"]) == bool(row["label"]) == (row["cosine"] is None)
        assert "@" not in row["sentence1"] + row["sentence2"]
    folder = tmp_path / "export"
    table = (folder / "train.tsv").read_text().splitlines()
    train = [row for row in rows if row["split"] == "train"]
    assert table[0].split("\t") == list(train[0])
    assert [line.split("\t")[:4] for line in table[1:]] == [[str(v) for v in row.values()][:4] for row in train]
    parquet = pytest.importorskip("pyarrow.parquet")
    assert parquet.read_table(folder / "parquet" / "train.parquet").to_pylist() == train


def test_negatives_of_another_run(tmp_path):
    (tmp_path / "n.tsv").write_text("header\n0\t5\t0.8\ta\tb\tc\n")
    with pytest.raises(InputError, match=r"line 2: no negative"):
        export.read_negatives(tmp_path / "n.tsv", 3)


def test_positives_without_a_negative(tmp_path):
    make(tmp_path, site(1), "export.shallow_baseline=false")
    path = tmp_path / "negatives.tsv"
    path.write_text(path.read_text().splitlines(keepends=True)[0])
    with pytest.raises(InputError, match="no positive has a negative: run `fairseq-xl corpus negatives` with a wider"):
        run_step(Project.open(tmp_path), "export", again=True)


def test_a_share_that_does_not_fit(tmp_path):
    with pytest.raises(InputError, match=r"export\.validation is 1"):
        make(tmp_path, site(1), "export.validation=1")


@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40, unique=True), st.integers(0, 9))
def test_paired_positives_have_one_negative_each(links, seed):
    negatives = [(a, b, 0.85) for a, b in links if a != b]
    kept, chosen = export.balanced([placed(0, k) for k in range(12)], negatives, seed, paired=True)
    assert kept == [first for first, _, _ in chosen] == sorted({first for first, _, _ in negatives})
