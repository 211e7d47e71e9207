"""The paper's check, the step around it, and the table that a person edits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.corpus.alignment import align, review
from fairseq_xl.corpus.documents.document import Document, read_documents, write_documents
from fairseq_xl.corpus.pipeline import run_step
from fairseq_xl.corpus.project import Project
from fairseq_xl.io.errors import InputError

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]


def document(name: str, order: list[int | None], size: int = 8) -> Document:
    """A page whose second side's line k translates line order[k] of the first; None: nothing of it."""
    first = [f"{WORDS[k]} {WORDS[k]}s {WORDS[k]}ing here" for k in range(size)]
    translation = ["something else altogether" if k is None else first[k] for k in order]
    return Document(name, (f"e/{name}", f"f/{name}"), "link", (first, [f"<{t}>" for t in translation]), translation)


@pytest.fixture
def run(tmp_path):
    def step(documents, *settings):
        (tmp_path / "corpus.yaml").write_text("languages: [en, fr]\n")
        write_documents(tmp_path / "translate.jsonl", documents)
        project = Project.open(tmp_path, ["align.ratio=1", *settings])
        run_step(project, "align", again=True)
        return {d.id: d for d in read_documents(tmp_path / "align.jsonl")}, project.report("align")

    return step


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
        document("good", [0, 1, 2, 3, 4, 5, 6, 7]),
        document("forgiven", [0, None, 2, 3, 4, 5, 6, 7]),
        document("shifted", [0, 1, None, 2, 3, 4, 6, 7]),
        document("bad", [None] * 8),
        document("short", [0, 1, 2]),
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
    found, report = run([document("short", [0, 1, 2]), document("bad", [None] * 8)], "align.method=dynamic")
    assert found["short"].beads[:2] == [([0], [0]), ([1], [1])]
    assert report["discarded, misaligned"] == 1


def test_table_is_written_edited_and_read_back(run, tmp_path):
    pages = [document("good", [0, 1, 2, 3, 4, 5, 6, 7]), document("turned", [0, 1, 3, 2, 4, 5, 6, 7])]
    found, report = run(pages, "align.repair=review")
    assert list(found) == ["good"]
    assert report["lines to review"] == 2
    table = tmp_path / "review.tsv"
    header, *rows = table.read_text().splitlines()
    assert [row.split("\t")[2:4] for row in rows] == [["3", "3"], ["4", "4"]]
    with pytest.raises(InputError, match="is there: set"):
        run(pages, "align.repair=review")
    turned = rows[0].replace("\t3\t3\t", "\t3\t4\t"), rows[1].replace("\t4\t4\t", "\t4\t3\t")
    table.write_text("\n".join([header, *turned]))
    found, report = run(pages, "align.repair=review", "align.review=review.tsv")
    assert found["turned"].beads[2:4] == [([2], [3]), ([3], [2])]
    assert report["repaired"] == 1
    table.write_text("\n".join([header, rows[0]]))  # a row taken away leaves its lines out
    found, _ = run(pages, "align.repair=review", "align.review=review.tsv")
    assert ([3], [3]) not in found["turned"].beads


def test_no_line_of_the_table_is_a_formula(tmp_path):
    first, second = ["=HYPERLINK(1)", "\u00a0@x", "-5"], ["+y", "- z", "plain"]
    pages = Document("=a", ("u", "v"), "link", (first, second), ["=\tb", "x", "y"])
    assert review.write_review(tmp_path / "review.tsv", [(pages, [0, 1, 2])]) == 3
    _, *rows = (tmp_path / "review.tsv").read_text().splitlines()
    assert [row.split("\t")[4:] for row in rows] == [
        ["'=HYPERLINK(1)", "'+y", "'= b"],
        ["'@x", "'- z", "x"],
        ["-5", "plain", "y"],
    ]
    assert len(review.read_review(tmp_path / "review.tsv")["=a"].rows) == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda row: row.replace("\t3\t3\t", "\t3\tx\t"), "line 2: 'x' must be numbers"),
        (lambda row: row.replace("\t3\t3\t", "\t3\t\t"), "line 2: '' must be numbers"),
        (lambda row: row.replace("\t3\t3\t", "\t3\t9\t"), "line 2: turned has no line 9"),
        (lambda row: row.replace("\t3\t3\t", "\t3\t2\t"), "line 2: line 2 of turned is in another pair"),
        (lambda row: row.replace("turned\t", "turned\tx"), "line 2: turned has other lines now"),
        (lambda row: "turned", "line 2: 1 columns"),
    ],
)
def test_table_with_mistakes(run, tmp_path, change, message):
    pages = [document("good", list(range(8))), document("turned", [0, 1, 3, 2, 4, 5, 6, 7])]
    run(pages, "align.repair=review")
    table = tmp_path / "review.tsv"
    header, first, _ = table.read_text().splitlines()
    table.write_text(f"{header}\n{change(first)}\n")
    with pytest.raises(InputError, match=message):
        run(pages, "align.repair=review", "align.review=review.tsv")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("align.method=hand", "align.method is one of paper, dynamic, vecalign"),
        ("align.repair=hand", "align.repair is one of dynamic"),
        ("align.translation=false", "needs the translation"),
    ],
)
def test_settings_that_do_not_fit(run, setting, message):
    with pytest.raises(InputError, match=message):
        run([document("good", list(range(8)))], setting)


def test_no_page_left(run):
    with pytest.raises(InputError, match="no page of 1 could be aligned"):
        run([document("bad", [None] * 8)], "align.max_misaligned=2")
