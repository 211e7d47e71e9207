"""The paper's check, the step around it, and the table that a person edits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.corpus.alignment import align
from fairseq_xl.io.errors import InputError

from .conftest import document, shuffled


def test_isolated_places_are_forgiven():
    assert align.misaligned([0.4, 0.39, 1.0], 0.6) == [1]
    assert align.without_isolated([0, 2, 3, 4, 7, 9, 10]) == [2, 3, 4, 9, 10]


@given(st.lists(st.booleans(), max_size=30))
def test_runs_of_two_or_more_stay(flags):
    places = [k for k, bad in enumerate(flags) if bad]
    kept = align.without_isolated(places)
    assert kept == [k for k in places if flags[max(k - 1, 0) : k + 2].count(True) > 1]


def test_pages_are_aligned_repaired_or_discarded(run):
    pages = [
        shuffled("good", [0, 1, 2, 3, 4, 5, 6, 7]),
        shuffled("forgiven", [0, None, 2, 3, 4, 5, 6, 7]),
        shuffled("shifted", [0, 1, None, 2, 3, 4, 6, 7]),
        shuffled("bad", [None] * 8),
        shuffled("short", [0, 1, 2]),
    ]
    found, report = run(pages, "align.max_misaligned=7")
    assert list(found) == ["good", "forgiven", "shifted"]
    assert found["forgiven"].beads == [([k], [k]) for k in range(8)]
    places = [(0, 0), (1, 1), (2, 3), (3, 4), (4, 5), (6, 6), (7, 7)]
    assert found["shifted"].beads == [([i], [j]) for i, j in places]
    assert found["good"].score == 1
    assert report["aligned"] == 2
    assert report["repaired"] == 1
    assert report["lines forgiven"] == 1
    assert report["discarded, misaligned"] == 1
    assert report["discarded, unequal numbers of lines"] == 1
    assert report["pairs"] == 8 + 8 + 7
    assert list(run(pages, "align.max_misaligned=3")[0]) == ["good", "forgiven"]


def test_aligner_takes_pages_with_unequal_lines(run):
    found, report = run([shuffled("short", [0, 1, 2]), shuffled("bad", [None] * 8)], "align.method=dynamic")
    assert found["short"].beads[:2] == [([0], [0]), ([1], [1])]
    assert report["discarded, misaligned"] == 1


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("align.method=hand", "align.method is one of paper, dynamic, vecalign"),
        ("align.repair=hand", "align.repair is one of dynamic"),
        ("align.translation=false", "needs the translation"),
        ("align.review=review.tsv", "align.review names a table, and align.repair is dynamic: set it to review, too"),
    ],
)
def test_settings_that_do_not_fit(run, setting, message):
    with pytest.raises(InputError, match=message):
        run([shuffled("good", list(range(8)))], setting)


def test_a_page_without_a_translation(run):
    with pytest.raises(InputError, match="/1 has no translation: run `fairseq-xl corpus translate`"):
        run([shuffled("good", list(range(8))), document(1, ["a cat"], ["un chat"])])


def test_no_page_left(run):
    with pytest.raises(InputError, match="no page of 1 could be aligned"):
        run([shuffled("bad", [None] * 8)], "align.max_misaligned=2")


def test_a_page_of_which_too_much_is_misaligned(run):
    pages = [shuffled("good", list(range(8))), shuffled("half", [0, 1, *[None] * 5, 7])]
    found, report = run(pages, "align.method=dynamic", "align.max_share=0.3")
    assert list(found) == ["good"]
    assert report["discarded, misaligned"] == 1
    found, report = run(pages, "align.method=dynamic", "align.max_share=1")
    assert list(found) == ["good", "half"]
    assert report["pairs left out"] > 0


def test_the_ratio_of_lengths_is_that_of_all_pages():
    pages = [document(0, ["ab", "c"], ["abcd"]), document(1, ["d"], ["efgh"])]
    assert align._ratio(align.AlignSettings(), pages) == 2
    assert align._ratio(align.AlignSettings(ratio=1.5), pages) == 1.5
