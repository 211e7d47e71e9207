"""The same table in three languages."""

import csv
import io

import pytest

from fairseq_xl.report.tables import Table, as_text, escaped, write_table


@pytest.fixture
def table() -> Table:
    made = Table("Scores of a|b & c_d", ["system", "BLEU"])
    made.add("x|y_1", "3.0 ± 0.1")
    made.add('50 %, "quoted"', "−1")
    made.notes.append("A note.")
    return made


def test_markdown(table):
    assert table.markdown().splitlines() == [
        "### Scores of a|b & c_d",
        "",
        "| system | BLEU |",
        "|---|---:|",
        r"| x\|y_1 | 3.0 ± 0.1 |",
        '| 50 %, "quoted" | −1 |',
        "",
        "A note.",
    ]


def test_latex(table):
    lines = table.latex().splitlines()
    assert r"  \caption{Scores of a\textbar{}b \& c\_d}" in lines
    assert r"  x\textbar{}y\_1 & 3.0 $\pm$ 0.1 \\" in lines
    assert '  50 \\%, "quoted" & $-$1 \\\\' in lines
    assert r"  \begin{tabular}{lr}" in lines


def test_csv(table):
    assert list(csv.reader(io.StringIO(table.csv()))) == [table.headings, *table.rows]
    table.signature = "nrefs:1|case:mixed"
    rows = list(csv.reader(io.StringIO(table.csv())))
    assert [row[-1] for row in rows] == ["signature", *[table.signature] * 2]


def test_a_table_is_three_files(table, tmp_path):
    written = write_table(table, tmp_path, "scores")
    assert [path.name for path in written] == ["scores.md", "scores.tex", "scores.csv"]
    assert [path.read_text() for path in written] == [table.markdown(), table.latex(), table.csv()]


def test_unequal_rows(table):
    with pytest.raises(ValueError, match="1 cells under 2"):
        table.add("alone")


def test_escapes_do_not_escape_each_other():
    assert escaped(r"\{~") == r"\textbackslash{}\{\textasciitilde{}"


@pytest.mark.parametrize(
    "cell", ["=1+1", "+x", "-cmd|' /C calc'!A0", "@SUM(A1)", "\tx", "-2+3+cmd|' /C calc'!A0", "+1+1"]
)
def test_no_cell_is_a_formula(cell):
    table = Table("t", ["name", "score"], [[cell, "-1.5"]])
    (_, row) = csv.reader(io.StringIO(table.csv(), newline=""))
    assert row == [f"'{cell}", "-1.5"]


@pytest.mark.parametrize("cell", ["-1.5", "+4.4", "+1.8 to +7.0", "-0.3 (p = 0.02)", "+2.1 % ± 0.4", "-0.1 and +0.2"])
def test_what_tables_hold_stays_as_it_is(cell):
    assert as_text(cell) == cell
