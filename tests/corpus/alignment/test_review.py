"""The table of doubtful lines that a person edits."""

from __future__ import annotations

import pytest

from fairseq_xl.corpus.alignment import review
from fairseq_xl.corpus.documents.document import Document
from fairseq_xl.io.errors import InputError

from .conftest import shuffled


def test_table_is_written_edited_and_read_back(run, tmp_path):
    pages = [shuffled("good", [0, 1, 2, 3, 4, 5, 6, 7]), shuffled("turned", [0, 1, 3, 2, 4, 5, 6, 7])]
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


def test_a_table_without_the_repair_that_reads_it(run):
    with pytest.raises(
        InputError, match=r"align\.review names a table, and align\.repair is dynamic: set it to review"
    ):
        run([shuffled("good", [0, 1, 2])], "align.review=review.tsv")


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
        (lambda row: "turned", "line 2 has 1 columns"),
    ],
)
def test_table_with_mistakes(run, tmp_path, change, message):
    pages = [shuffled("good", list(range(8))), shuffled("turned", [0, 1, 3, 2, 4, 5, 6, 7])]
    run(pages, "align.repair=review")
    table = tmp_path / "review.tsv"
    header, first, _ = table.read_text().splitlines()
    table.write_text(f"{header}\n{change(first)}\n")
    with pytest.raises(InputError, match=message):
        run(pages, "align.repair=review", "align.review=review.tsv")
