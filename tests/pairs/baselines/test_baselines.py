"""Every baseline by name: it learns, knows no order of the two sentences, and is recorded by the command."""

from __future__ import annotations

import json
import sys
import types
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from fairseq_xl.cli.main import main
from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.baselines import BASELINES
from fairseq_xl.pairs.data.directory import Row, write_rows
from fairseq_xl.pairs.evaluation.record import PairRecord
from fairseq_xl.vectors.table import WordVectors, write_vectors

pytest.importorskip("sklearn")
features = pytest.importorskip("fairseq_xl.pairs.baselines.features")
learners = pytest.importorskip("fairseq_xl.pairs.baselines.learners")
LEARNERS, Training, fit = learners.LEARNERS, learners.Training, learners.fit

WORDS = [f"{a}{b}" for a in ("pago", "envio", "pedido", "tarjeta", "cupon") for b in "abcdefgh"]


def pairs(count: int, seed: int, split: str = "train") -> list[Row]:
    """A matching pair shares four of five words, another one in five."""
    random = np.random.default_rng(seed)
    rows = []
    for i in range(count):
        label = int(random.random() < 0.3)
        left = random.choice(WORDS, 5, replace=False).tolist()
        others = [word for word in WORDS if word not in left]
        kept = 4 if label else 1
        right = left[:kept] + random.choice(others, 5 - kept, replace=False).tolist()
        random.shuffle(right)
        left, right = " ".join(left), " ".join(right)
        folds = tuple(random.integers(0, 2, 2).tolist())
        rows.append(Row(f"{split}:{i}", label, i // 2, folds, left, right, left.upper() + "?", right.upper()))
    return rows


TRAIN, VALID = pairs(200, 1), pairs(80, 2, "valid")


@pytest.fixture(scope="module")
def table():
    return WordVectors(WORDS, np.random.default_rng(1).normal(size=(len(WORDS), 40)))


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "prepared"
    folder.mkdir()
    write_rows(folder / "train.tsv", TRAIN)
    write_rows(folder / "valid.tsv", VALID)
    write_rows(folder / "test.tsv", [replace(row, label=None, id=f"test:{row.id}") for row in VALID])
    (folder / "dict.txt").write_text("".join(f"{word} 1\n" for word in WORDS))
    tokenizer = {"keep_case": False, "keep_punctuation": False, "longest": 60}
    (folder / "manifest.json").write_text(json.dumps({"version": 1, "tokenizer": tokenizer, "folds": 2}))
    return folder


@pytest.fixture
def encoder(monkeypatch):
    """A sentence-transformers model that counts words."""

    class SentenceTransformer:
        def __init__(self, name):
            assert name == "a-model"

        def encode(self, texts):
            return np.array([[float(word.upper() in text) for word in WORDS] for text in texts])

    monkeypatch.setitem(
        sys.modules, "sentence_transformers", types.SimpleNamespace(SentenceTransformer=SentenceTransformer)
    )


@pytest.mark.parametrize("name", sorted(set(BASELINES) - {"constant"}))
def test_it_learns_repeats_and_knows_no_order(name, table, encoder):
    training = Training(TRAIN, table, "a-model")
    judge = fit(name, training, seed=1)
    found = judge(VALID)
    gold = np.array([row.label for row in VALID])
    assert ((found > 0.5) == gold).mean() > 0.9
    exchanged = [
        replace(row, left=row.right, right=row.left, left_text=row.right_text, right_text=row.left_text)
        for row in VALID
    ]
    if name != "shallow":  # which looks at how each sentence ends and begins
        np.testing.assert_allclose(judge(exchanged), found, atol=1e-9)
    np.testing.assert_array_equal(fit(name, training, seed=1)(VALID), found)
    # A pair's probability is its own: of unseen words, of none, and alone.
    strange = [replace(VALID[0], left="ζ", right="ζ ξ"), replace(VALID[0], left="a", right="")]
    assert np.isfinite(judge(strange)).all()
    np.testing.assert_allclose(judge(VALID[:1]), found[:1], atol=1e-9)


def test_the_constant_is_the_training_share():
    share = np.mean([row.label for row in TRAIN])
    np.testing.assert_allclose(fit("constant", Training(TRAIN), 1)(VALID), share)


def test_character_features_by_hand():
    row = replace(VALID[0], left="ab", right="abb")
    found = features.character_ngram(Training(TRAIN))([row])[0]
    # One character: " ab " against " abb ": counts (2, 1, 1) and (2, 1, 2); the same three kinds.
    np.testing.assert_allclose(found[:3], [7 / np.sqrt(6 * 9), 1, 1])
    # Two: " a", "ab", "b " against these and "bb".
    np.testing.assert_allclose(found[3:6], [3 / np.sqrt(3 * 4), 3 / 4, 1])
    np.testing.assert_array_equal(found[-4:], [2, 3, 1, 1])


def test_bm25_by_hand():
    """Okapi's weights (k1 = 1.5, b = 0.75), word by word; "el" is in over half of the training sentences."""
    training = Training([replace(row, left=f"el {row.left}", right=f"el {row.right}") for row in TRAIN])
    row = replace(VALID[0], left=f"el {TRAIN[0].left}", right=f"{TRAIN[0].right} ζ {WORDS[0]} {WORDS[0]}")
    score, share = features.bm25(training)([row])[0]
    sentences = [text.split() for text in training.sentences]
    average = sum(map(len, sentences)) / len(sentences)

    def rarity(word):
        count = sum(word in words for words in sentences)
        return np.log(len(sentences) - count + 0.5) - np.log(count + 0.5)

    usual = np.mean([rarity(word) for word in ("el", *WORDS)])

    def of(query, document):
        query, document, total = query.split(), document.split(), 0.0
        for word in query:
            if word in ("el", *WORDS):
                idf = rarity(word) if rarity(word) >= 0 else 0.25 * usual
                count = document.count(word)
                total += idf * count * 2.5 / (count + 1.5 * (0.25 + 0.75 * len(document) / average))
        return total

    crossed = of(row.left, row.right) + of(row.right, row.left)
    assert score == pytest.approx(crossed / 2)
    assert share == pytest.approx(crossed / (of(row.left, row.left) + of(row.right, row.right)))


def test_vectors_by_hand(table):
    row = replace(VALID[0], left=WORDS[0], right=f"{WORDS[1]} ζ {WORDS[2]}")
    plain, *weighted = features.vectors(Training(TRAIN, table))([row])[0]
    a, b = table.matrix[0].astype(float), table.matrix[1:3].astype(float).mean(0)
    assert plain == pytest.approx(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
    assert all(-1 <= x <= 1 and x != plain for x in weighted)
    # Arora, Liang & Ma 2017, algorithm 1: the mean of weighted vectors, less their first direction in training.
    sentences = [side.split() for row in TRAIN for side in (row.left, row.right)]
    tokens = Counter(word for words in dict.fromkeys(map(tuple, sentences)) for word in words)

    def sif(words):
        known = [word for word in words if word in table.index]
        parts = [table.matrix[table.index[w]] * 1e-3 / (1e-3 + tokens[w] / tokens.total()) for w in known]
        return np.sum(parts, axis=0) / len(known) if known else np.zeros(table.dim)

    common = np.linalg.svd(np.stack([sif(words) for words in dict.fromkeys(map(tuple, sentences))]))[2][0]
    left, right = (sif(side.split()) for side in (row.left, row.right))
    left, right = left - (left @ common) * common, right - (right @ common) * common
    assert weighted[-1] == pytest.approx(left @ right / np.linalg.norm(left) / np.linalg.norm(right), abs=1e-5)


def test_learners_can_be_exchanged():
    first, second = (fit("tfidf", Training(TRAIN), 1, learner)(VALID) for learner in ("logistic", "boosting"))
    assert not np.allclose(first, second)
    assert set(LEARNERS) == {"boosting", "logistic", "share"}


def test_what_a_baseline_needs_is_said(table):
    with pytest.raises(InputError, match="name it with --model"):
        fit("st", Training(TRAIN), 1)
    with pytest.raises(InputError, match="name it with --vectors"):
        fit("vectors", Training(TRAIN), 1)
    with pytest.raises(InputError, match="has no vector for any training word"):
        fit("vectors", Training(TRAIN, WordVectors(["ζ"], np.ones((1, 2)))), 1)
    with pytest.raises(InputError, match="some that match and some that do not"):
        fit("constant", Training([row for row in TRAIN if row.label]), 1)


def test_a_missing_package_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(InputError, match=r"bash scripts/setup.sh --extras pretrained"):
        fit("st", Training(TRAIN, model="a-model"), 1)


# --- the command ---


def test_a_record_of_the_validation_pairs(folder, tmp_path, capsys):
    out = tmp_path / "r.json"
    assert main(["match", "baseline", "tfidf", str(folder), "-o", str(out), "--seed", "3"]) == 0
    assert "tfidf: log loss 0." in capsys.readouterr().err
    record = PairRecord.read(out)
    assert (record.name, record.split, record.seed) == ("tfidf", "valid", 3)
    assert record.ids == [row.id for row in VALID]
    assert record.gold == [row.label for row in VALID]
    assert record.group == [row.group for row in VALID]
    np.testing.assert_allclose(record.probability, fit("tfidf", Training(TRAIN), 3)(VALID))
    assert record.about["training_pairs"] == len(TRAIN)
    assert record.about["training_seconds"] > 0
    assert record.about["learner"] == "logistic"


def test_unlabelled_pairs_are_judged(folder, tmp_path, capsys):
    out = tmp_path / "r.json"
    arguments = ["--split", "test", "--name", "prior"]
    assert main(["match", "baseline", "constant", str(folder), "-o", str(out), *arguments]) == 0
    assert capsys.readouterr().err == ""
    record = PairRecord.read(out)
    assert (record.gold, record.split, record.name) == (None, "test", "prior")


def test_a_fold_is_judged_by_the_others(folder, tmp_path):
    out = tmp_path / "r.json"
    assert main(["match", "baseline", "constant", str(folder), "-o", str(out), "--fold", "1"]) == 0
    record = PairRecord.read(out)
    assert record.split == "fold 1"
    assert record.about["fold"] == 1
    assert record.ids == [row.id for row in TRAIN if row.folds == (1, 1)]
    learned = [row.label for row in TRAIN if row.folds == (0, 0)]
    np.testing.assert_allclose(record.probability, np.mean(learned))


def test_folds_have_a_table(folder, tmp_path, capsys):
    records = [str(tmp_path / f"{fold}.json") for fold in (0, 1)]
    for fold, record in enumerate(records):
        assert main(["match", "baseline", "shallow", str(folder), "-o", record, "--fold", str(fold)]) == 0
    assert main(["match", "folds", *records]) == 0
    assert "| shallow | 2 |" in capsys.readouterr().out


def test_vectors_are_read_from_a_file(folder, tmp_path, table):
    write_vectors(tmp_path / "v.vec", table)
    arguments = ["--vectors", str(tmp_path / "v.vec"), "-o", str(tmp_path / "r.json")]
    assert main(["match", "baseline", "vectors", str(folder), *arguments]) == 0
    found = PairRecord.read(tmp_path / "r.json").probability
    np.testing.assert_allclose(found, fit("vectors", Training(TRAIN, table), 1)(VALID), atol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--fold", "1", "--split", "valid"], "leave --split out"),
        (["--fold", "2"], "fold 2 of 2"),
        (["--learner", "logistic"], "leave --learner out"),
        (["--vectors", "x.vec"], "--vectors is for vectors, and the baseline is constant: leave it out"),
        (["--model", "small"], "--model is for st, and the baseline is constant: leave it out"),
    ],
)
def test_mistakes(folder, tmp_path, capsys, arguments, said):
    assert main(["match", "baseline", "constant", str(folder), "-o", str(tmp_path / "r.json"), *arguments]) == 2
    assert said in capsys.readouterr().err
