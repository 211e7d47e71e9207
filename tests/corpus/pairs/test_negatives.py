"""Negatives against a double loop, the folds' property, and encoders."""

from __future__ import annotations

import argparse
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairseq_xl.cli.corpus import negatives as negatives_command
from fairseq_xl.corpus.documents.document import Document, write_documents
from fairseq_xl.corpus.documents.words import frequency_cosine, key
from fairseq_xl.corpus.pairs import encoders, negatives, split
from fairseq_xl.corpus.pairs.negatives import Band, Lengths, Likeness
from fairseq_xl.corpus.pairs.positives import Positives, collect, read_positives
from fairseq_xl.io.errors import InputError


def made(first: list[str], second: list[str], home: list[int]) -> Positives:
    pages, seconds = [{page} for page in home], [{key(text)} for text in second]
    return Positives(first, second, home, pages, seconds)


def random_case(seed: int, count: int):
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(count, 4)).astype(np.float32) + 1.5
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[random.random(count) < 0.1] = 0
    word = lambda: " ".join(random.choice(list("abcdefg"), 3))  # noqa: E731
    first, second = [word() for _ in range(count)], [word() for _ in range(count)]
    home = random.integers(0, 6, count).tolist()
    positives = made(first, second, home)
    for k in range(count):
        positives.pages[k].add(int(random.integers(0, 6)))
    return vectors, random.integers(0, 3, count), positives


def double_loop(vectors, area, positives, band, near, length=0.0):
    """Candidates of each sentence, as the issue's words say."""
    found = {}
    log = [[np.log(1 + len(text)) for text in side] for side in (positives.first, positives.second)]
    usual = [second - first for first, second in zip(*log, strict=True)]
    for q in range(len(vectors)):
        for c in range(len(vectors)):
            cosine = float(vectors[q] @ vectors[c])
            if (
                area[q] == area[c]
                and positives.home[q] not in positives.pages[c]
                and band.low < cosine < band.high
                and frequency_cosine(positives.first[q], positives.first[c]) < near
                and frequency_cosine(positives.second[q], positives.second[c]) < near
                and positives.seconds[q].isdisjoint(positives.seconds[c])
                and (not length or abs(log[1][c] - log[0][q] - np.mean(usual)) <= length * np.std(usual))
            ):
                found.setdefault(q, {})[c] = cosine
    return found


def searched(vectors, area, positives, band, near, seed=1, length=0.0):
    found = {}
    alike, fits = Likeness(positives, near), Lengths(positives, length)
    for block in negatives.search(vectors, area, positives.home, positives.pages, band, alike, fits, seed):
        for q, c, cosine in zip(*block, strict=True):
            assert c not in found.get(q, {})
            found.setdefault(int(q), {})[int(c)] = float(cosine)
    return found


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 8), st.sampled_from([(3, 5), (7, 2)]))
def test_against_a_double_loop(seed, count, each, sizes):
    vectors, area, positives = random_case(seed, count)
    band = Band(0.8, 0.95, each)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(negatives, "QUERIES", sizes[0])
        patch.setattr(negatives, "CANDIDATES", sizes[1])
        found = searched(vectors, area, positives, band, 0.85)
        assert searched(vectors, area, positives, band, 0.85) == found
    expected = double_loop(vectors, area, positives, band, 0.85)
    assert found.keys() == expected.keys()
    for q, candidates in found.items():
        assert len(candidates) == min(each, len(expected[q]))
        for c, cosine in candidates.items():
            assert cosine == pytest.approx(expected[q][c], abs=1e-5)


def test_lengths_against_a_double_loop():
    vectors, area, positives = random_case(5, 60)
    random = np.random.default_rng(6)
    positives.second[:] = [text + "x" * int(random.integers(0, 30)) for text in positives.second]
    band = Band(0.8, 0.95, 60)
    every, found = (searched(vectors, area, positives, band, 0.85, length=length) for length in (0.0, 0.5))
    pairs = {(q, c) for q, candidates in found.items() for c in candidates}
    expected = double_loop(vectors, area, positives, band, 0.85, length=0.5)
    assert pairs == {(q, c) for q, candidates in expected.items() for c in candidates}
    assert 0 < len(pairs) < sum(map(len, every.values()))


def test_no_more_candidates_than_the_pool(monkeypatch):
    monkeypatch.setattr(negatives, "CANDIDATES", 5)
    count = 40
    vectors = np.ones((count, 1), np.float32)
    positives = made([f"w{k}" for k in range(count)], [f"v{k}" for k in range(count)], list(range(count)))
    found = searched(vectors, np.zeros(count, int), positives, Band(0.8, 1.1, 30, pool=10), 0.9)
    assert {len(one) for one in found.values()} <= {9, 10}


def test_what_means_the_same_is_alike():
    positives = made(
        ["the cat sat down here", "here the cat sat down", "a dog", "one bird", "two birds"],
        ["x", "y", "le grand chien noir dort", "le grand chien noir dort bien", "z"],
        [0, 1, 2, 3, 4],
    )
    positives.seconds[4].add("x")  # stands beside x on another page
    alike = Likeness(positives, 0.9)
    assert alike(np.array([0, 2, 0, 0, 2]), np.array([1, 3, 4, 2, 4])).tolist() == [True, True, True, False, False]


def test_quantiles_are_of_the_same_topic_and_other_pages():
    vectors = np.array([[1, 0], [0, 1], [0.6, 0.8], [1, 0], [0, 0]], np.float32)
    found = negatives.quantiles(vectors, [0, 0, 0, 1, 0], [0, 0, 1, 2, 3], seed=1, draws=1000)
    assert np.unique(found) == pytest.approx([0.6, 0.8])
    assert len(negatives.quantiles(vectors, [0] * 5, [0] * 5, seed=1)) == 0


# -- the sentences and their folds


def documents(pages: list[list[tuple[str, str]]], topics: list[int]) -> list[Document]:
    return [
        Document(
            f"p{k}",
            (f"http://e/{k}", f"http://f/{k}"),
            "link",
            ([a for a, _ in page], [b for _, b in page]),
            None,
            [([n], [n]) for n in range(len(page))],
            1.0,
            topic,
        )
        for k, (page, topic) in enumerate(zip(pages, topics, strict=True))
    ]


def test_sentences_once_without_menus():
    pages = [[("Home page", "Accueil"), ("Cats sleep.", "Les chats dorment."), ("Apache MPM", "apache mpm")]]
    pages.append([("Home page", "Accueil"), ("CATS SLEEP", "Le chat dort"), ("Dogs", "Les chats dorment")])
    pages.append([("Home page", "Accueil"), ("Birds fly", "Oiseaux")])
    found = collect(documents(pages, [0, 0, 0]), 0.7)
    assert found.first == ["Cats sleep.", "Birds fly"]
    assert found.home == [0, 2]
    assert found.pages[0] == {0, 1}
    assert found.seconds[0] == {"les chats dorment", "le chat dort"}
    assert found.counts == {
        "pairs in": 8,
        "left out, on too many pages": 3,
        "left out, the same in both languages": 1,
        "left out, repeated": 2,
    }


TEXT = st.integers(0, 30).map("sentence {}".format)
PAGES = st.lists(st.lists(st.tuples(TEXT, TEXT), max_size=6), min_size=8, max_size=20)


@given(PAGES, st.integers(0, 3), st.sampled_from([0.1, 0.5, 1.0]), st.sampled_from([0.0, 0.2]))
def test_no_text_and_no_page_in_two_folds(pages, seed, share, test):
    found = collect(documents(pages, [k % 2 for k in range(len(pages))]), share)
    if not len(found):
        return
    texts = [key(text) for side in (found.first, found.second) for text in side]
    assert len(set(texts)) == len(texts)
    group = split.near_copies(found.pages, len(pages), 0.5)
    weight = np.bincount(found.home, minlength=len(pages))
    try:
        fold = split.assign(group, [k % 2 for k in range(len(pages))], weight, 2, test, seed)
    except InputError as error:
        assert "too few" in str(error)  # noqa: PT017
        return
    assert set(fold[weight > 0].tolist()) == {0, 1, *([split.TEST] if test else [])}
    for k in range(max(group) + 1):
        assert len(set(fold[group == k])) == 1


def test_near_copies_stay_together():
    # Pages 0 and 1 share two of three sentences, 1 and 2 one of three, 3 has none.
    assert split.near_copies([{0, 1}, {0, 1}, {0}, {1, 2}, {2}, {2}], 4, 0.5).tolist() == [0, 0, 1, 2]


def test_a_topic_goes_where_it_has_two_pages():
    topics = [0] * 5 + [1] * 40
    fold = split.assign(np.arange(45), topics, np.ones(45, int), 5, 0.2, seed=1)
    for topic, pages in ((0, 5), (1, 40)):
        sizes = np.unique(fold[np.array(topics) == topic], return_counts=True)[1]
        assert sizes.min() >= 2
        assert sizes.sum() == pages
    shares = np.bincount(fold + 1) / 45
    assert shares == pytest.approx([0.2] + [0.16] * 5, abs=0.12)  # the small topic is not divided


def test_a_topic_stays_in_one_part_where_that_fills_all():
    topics = [k // 4 for k in range(48)]  # twelve topics for six parts
    fold = split.assign(np.arange(48), topics, np.ones(48, int), 5, 0.2, seed=1)
    assert all(len(set(fold[k : k + 4].tolist())) == 1 for k in range(0, 48, 4))
    assert np.bincount(fold + 1).tolist() == [8] * 6


# -- encoders


@pytest.fixture
def vectors(tmp_path):
    path = tmp_path / "v.vec"
    path.write_text("4 2\nred 1 0\nblue 0 1\nthe 1 1\nhouse 3 1\n")
    return path


def test_frequent_words_count_less(vectors):
    sentences = ["the red", "the the", "unknown"]
    found = encoders.encode(sentences, f"vectors:{vectors}")
    a, the, red = 1e-3, 3 / 5, 1 / 5  # of five words, one of them unknown
    expected = np.array([a / (a + red) + a / (a + the), a / (a + the)])
    assert found[0] == pytest.approx(expected / np.linalg.norm(expected), rel=1e-5)
    assert found[2].tolist() == [0, 0]
    less = encoders.averaged(["the red", "blue", "house red", "zzz"], vectors, 1)
    _, _, directions = np.linalg.svd(encoders.averaged(["the red", "blue", "house red", "zzz"], vectors, 0))
    assert less @ directions[0] == pytest.approx(0, abs=1e-5)
    assert not less[3].any()


@pytest.mark.parametrize(
    ("encoder", "message"),
    [
        ("gpt", "give KIND:NAME"),
        ("vectors:", "give KIND:NAME"),
        ("array:no.npy", "cannot be read as an array"),
        ("sentence-transformers:x", "sentence_transformers: pip install|cannot load"),
        ("transformers:./none", "transformers: pip install|cannot load"),
    ],
)
def test_encoders_that_cannot_be_used(encoder, message):
    with pytest.raises(InputError, match=message):
        encoders.encode(["a"], encoder)


def test_array_of_other_sentences(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((3, 2)))
    with pytest.raises(InputError, match=r"shape \(3, 2\), but there are 2"):
        encoders.encode(["a", "b"], f"array:{tmp_path / 'x.npy'}")


# -- the step


@pytest.fixture
def run(tmp_path):
    def step(*options):
        (tmp_path / "corpus.yaml").write_text("languages: [en, fr]\nnegatives: {folds: 2, test: 0}\n")
        pages = [[(f"word{p} term{p} x{k}", f"mot{p} nom{p} y{k}") for k in range(3)] for p in range(8)]
        write_documents(tmp_path / "topics.jsonl", documents(pages, [p % 2 for p in range(8)]))
        parser = argparse.ArgumentParser()
        negatives_command.configure(parser)
        negatives_command.run(parser.parse_args(["--project", str(tmp_path), *options]))
        return tmp_path

    return step


def test_the_step_from_an_array(run, tmp_path, capsys):
    run("--sentences", str(tmp_path / "s.txt"))
    count = len((tmp_path / "s.txt").read_text().splitlines())
    angle = np.random.default_rng(1).uniform(0, 0.8, count)
    np.save(tmp_path / "x.npy", np.stack([np.cos(angle), np.sin(angle)], 1))
    setting = f"negatives.encoder=array:{tmp_path / 'x.npy'}"
    run("--quantiles", "--set", setting)
    assert "50.0% are below" in capsys.readouterr().err
    run("--set", setting)
    report = json.loads((tmp_path / "reports" / "negatives.json").read_text())
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
        ("folds=1", "give 2 folds or more"),
        ("folds=7", "too few for 7 folds"),
        ("encoder=x:y", "give KIND:NAME"),
    ],
)
def test_settings_that_do_not_fit(run, setting, message):
    with pytest.raises(InputError, match=message):
        run("--set", f"negatives.{setting}")


def test_a_band_without_sentences(run, tmp_path):
    np.save(tmp_path / "x.npy", np.ones((24, 2)))
    with pytest.raises(InputError, match="no sentence has a negative"):
        run("--set", f"negatives.encoder=array:{tmp_path / 'x.npy'}")
