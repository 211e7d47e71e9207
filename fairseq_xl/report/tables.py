"""A table of text, as Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fairseq_xl.io.atomic import atomic_text

LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "→": r"$\rightarrow$",
    "κ": r"$\kappa$",
    "λ": r"$\lambda$",
    "−": r"$-$",
    "†": r"$^\dagger$",
    "‡": r"$^\ddagger$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "₃": r"$_3$",
    "₄": r"$_4$",
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "§": r"\S{}",
    "¶": r"\P{}",
}
# a number, and what tables add to it: "+1.8 to +7.0", "-0.3 (p = 0.02)", "+2.1 % ± 0.4"
_NUMBER = r"[+-]?[\d.,]*\d%?"
NUMBERS = re.compile(rf"{_NUMBER}(?: (?:\(?{_NUMBER}\)?[,;]?|\(?[A-Za-z]+|[=<>≤≥±%–]))*")


@dataclass
class Table:
    """A title, a row of headings, rows of cells, and notes to stand below."""

    title: str
    headings: list[str]
    rows: list[list[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    signature: str = ""
    """how the numbers were made, for a spreadsheet, which has no room for notes"""
    folded: bool = False
    """a page shows it after a click: long, and of little use to most"""

    def add(self, *cells: str) -> None:
        if len(cells) != len(self.headings):
            raise ValueError(f"{len(cells)} cells under {len(self.headings)} headings")
        self.rows.append(list(cells))

    def markdown(self) -> str:
        notes = "".join(f"\n{note}\n" for note in self.notes)
        return "\n".join([f"### {self.title}", "", *markdown_lines(self.headings, self.rows), ""]) + notes

    def latex(self) -> str:
        """A ``table`` environment that needs the package booktabs."""

        def line(cells: Sequence[str]) -> str:
            return "  " + " & ".join(map(escaped, cells)) + r" \\"

        columns = "l" + "r" * (len(self.headings) - 1)
        notes = [f"  \\par\\footnotesize {escaped(note)}" for note in self.notes]
        return "\n".join(
            [
                r"\begin{table}",
                r"  \centering",
                f"  \\caption{{{escaped(self.title)}}}",
                f"  \\begin{{tabular}}{{{columns}}}",
                r"  \toprule",
                line(self.headings),
                r"  \midrule",
                *map(line, self.rows),
                r"  \bottomrule",
                r"  \end{tabular}",
                *notes,
                r"\end{table}",
                "",
            ]
        )

    def csv(self) -> str:
        """For a spreadsheet, which must not take a name for a formula; the signature is a last column."""
        stream = io.StringIO()
        rows = [[as_text(cell) for cell in row] for row in (self.headings, *self.rows)]
        if self.signature:
            rows = [[*row, self.signature if number else "signature"] for number, row in enumerate(rows)]
        csv.writer(stream, lineterminator="\n").writerows(rows)
        return stream.getvalue()


def markdown_lines(headings: Sequence[str], rows: Iterable[Sequence[str]], others: str = "---:") -> list[str]:
    """A table in Markdown without title and notes; ``others`` aligns the columns after the first."""

    def line(cells: Sequence[str]) -> str:
        # A bar ends a cell, even within code, unless a backslash stands before it.
        return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"

    return [line(headings), "|---|" + f"{others}|" * (len(headings) - 1), *map(line, rows)]


def write_table(table: Table, folder: Path, stem: str) -> list[Path]:
    """One table as three files, ``STEM.md``, ``.tex`` and ``.csv``, which are returned."""
    texts = {"md": table.markdown(), "tex": table.latex(), "csv": table.csv()}
    paths = [folder / f"{stem}.{suffix}" for suffix in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        with atomic_text(path) as stream:
            stream.write(text)
    return paths


def as_text(cell: str) -> str:
    """The same cell on one line, after an apostrophe where a spreadsheet would begin to calculate (CSV injection)."""
    cell = " ".join(cell.splitlines())
    begins_a_formula = cell.startswith(("=", "+", "-", "@", "\t")) and not NUMBERS.fullmatch(cell)
    return f"'{cell}" if begins_a_formula else cell


def escaped(text: str) -> str:
    """Text that LaTeX prints as it stands."""
    return "".join(LATEX.get(letter, letter) for letter in text)
