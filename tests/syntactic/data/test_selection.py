"""What is trained on, and what is not."""

from __future__ import annotations

from contextlib import closing
from itertools import pairwise

import pytest

from fairseq_xl.syntactic.data.corpus import Corpus
from fairseq_xl.syntactic.data.filters import folded
from fairseq_xl.syntactic.data.readers import TabSeparated
from fairseq_xl.syntactic.data.selection import Selection

LANGUAGES = ("de", "en", "es", "nl")
PAIRS = [(source, target) for source in LANGUAGES for target in LANGUAGES if source != target]


@pytest.fixture
def corpus(multilingual, tmp_path):
    """Every Dutch sentence has two English ones, so that a held-out sentence has translations that are not."""
    twice = tmp_path / "twice.tsv"
    lines = (multilingual.folder / "nl.tsv").read_text().splitlines(keepends=True)
    twice.write_text("".join(f"Well, {line}" for line in lines))
    with closing(Corpus(tmp_path / "corpus.sqlite")) as found:
        for language in ("de", "es", "nl"):
            found.read(TabSeparated(("en", language), (multilingual.folder / f"{language}.tsv",)), 3, ())
        found.read(TabSeparated(("en", "nl"), (twice,)), 3, ())
        found.pivot("en", 10)
        for language in LANGUAGES:
            found.give_tags([("X", number) for number, _ in found.sentences_without_tags(language)])
        yield found


def sides(selection, part):
    return [
        {getattr(row, side) for pair in PAIRS for row in selection.rows(part, pair)} for side in ("source", "target")
    ]


def test_parts_share_no_sentence(corpus):
    selection = Selection(corpus, PAIRS, [], 12, 1, "en")
    train, valid = (set.union(*sides(selection, part)) for part in ("train", "valid"))
    assert not train & valid
    counts = corpus.pair_counts()
    for pair in PAIRS:
        rows = list(selection.rows("valid", pair))
        # at most one in twenty is wanted; translations come along
        assert min(12, counts[pair] // 20) <= len(rows) <= 25
        assert len(rows) == selection.count("valid", pair)
        assert len(list(selection.rows("train", pair))) == selection.count("train", pair)
        mixed = counts[pair] - len(rows) - selection.count("train", pair)
        assert (mixed > 0) == (set(pair) == {"en", "nl"})
    sentences = list(selection.training_sentences(10**6))
    assert len(sentences) == len(set(sentences))
    assert train <= set(sentences) <= {text for language in LANGUAGES for text in corpus.sentences(language)} - valid


def test_one_in_twenty_of_what_is_not_excluded_validates(corpus):
    exclude = [*corpus.sentences("de")][60:]
    selection = Selection(corpus, [("de", "en")], exclude, 500, 1, "en")
    valid, train = (selection.count(part, ("de", "en")) for part in ("valid", "train"))
    assert (valid, train) == (3, 57)


def test_excluded_sentences_are_in_no_part(corpus):
    exclude = ["i see one and one cats!", "ICH SEHE ZWEI UND DREI KATZEN", "nothing of this"]
    selection = Selection(corpus, PAIRS, exclude, 12, 1, "en")
    assert selection.excluded == 2
    everywhere = {folded(text) for part in ("train", "valid") for side in sides(selection, part) for text in side}
    assert not everywhere & set(map(folded, exclude))
    assert folded("Veo uno y uno gatos.") in everywhere
    without = sum(selection.count("train", pair) + selection.count("valid", pair) for pair in PAIRS)
    assert without < sum(corpus.pair_counts().values())


def test_a_vocabulary_is_learnt_from_a_bounded_number_of_sentences(corpus):
    selection = Selection(corpus, PAIRS, [], 12, 1, "en")
    every = list(selection.training_sentences(10**6))
    some = list(selection.training_sentences(100))
    assert len(some) == 100 < len(every)
    places = [every.index(text) for text in some]
    gaps = {after - before for before, after in pairwise(places)}
    assert gaps <= {len(every) // 100, len(every) // 100 + 1}
    assert list(selection.training_sentences(len(every))) == every


def test_seeds_choose_and_repeat(corpus):
    chosen = [set(Selection(corpus, PAIRS, [], 12, seed, "en").rows("valid", ("de", "en"))) for seed in (1, 1, 2, 9)]
    assert chosen[0] == chosen[1]
    assert len(set(map(frozenset, chosen))) == 3


def test_without_a_pivot(corpus):
    """Pairs that no third language joins are held out by their own sentences."""
    selection = Selection(corpus, [("de", "es")], [], 5, 1, "none")
    assert selection.count("valid", ("de", "es")) == 5
    assert Selection(corpus, [("de", "es")], [], 0, 1, "en").count("valid", ("de", "es")) == 0
