"""A table of a report as files."""

from __future__ import annotations

from pathlib import Path

from fairseq_xl.experiment.reporting import write_table
from fairseq_xl.report.tables import Table


def test_a_table_is_three_files_named_after_its_number_and_title(tmp_path: Path) -> None:
    table = Table("Scores: de/en, beam 5", ["system", "BLEU"])
    table.add("vmf", "30")
    written = write_table(table, tmp_path, 3)
    assert [path.name for path in written] == [f"03-scores-de-en-beam-5.{kind}" for kind in ("md", "tex", "csv")]
    assert [path.read_text() for path in written] == [table.markdown(), table.latex(), table.csv()]
