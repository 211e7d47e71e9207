"""The aligners on the gold alignments, where they are."""

from __future__ import annotations

import markdown_tables

from fairseq_xl.cli.main import main


def test_on_the_gold_alignments(data_dir, capsys):
    folder = data_dir / "web" / "bleualign_de_fr"
    texts = {"first": "dev.de", "second": "dev.fr", "gold": "dev.defr"}
    files = [f"--{name}={folder / file}" for name, file in texts.items()]
    assert main(["corpus", "align-quality", *files]) == 0
    rows = markdown_tables.rows(capsys.readouterr().out)[2:]
    strict, lax = ({row[0]: float(row[column]) for row in rows} for column in (3, 6))
    assert lax["dynamic, induced dictionary"] > 90
    assert strict["dynamic, induced dictionary"] > strict["dynamic, lengths"] > strict["same place (paper)"]


def test_rows_for_a_translation_and_a_command(tmp_path, capsys):
    for name, lines in (("a", "red house\nblue car\n"), ("b", "maison rouge\nvoiture bleue\n")):
        (tmp_path / name).write_text(lines)
    (tmp_path / "gold").write_text("[0]:[0]\n[1]:[1]\n")
    (tmp_path / "command.sh").write_text("echo '[0]:[0]'; echo '[1]:[]'")
    files = [f"--first={tmp_path / 'a'}", f"--second={tmp_path / 'b'}", f"--gold={tmp_path / 'gold'}"]
    more = [f"--translation={tmp_path / 'a'}", "--parallel", str(tmp_path / "a"), str(tmp_path / "b")]
    command = f"--vecalign=sh {tmp_path}/command.sh {{first}} {{second}}"
    assert main(["corpus", "align-quality", *files, *more, command]) == 0
    found = markdown_tables.by_name(capsys.readouterr().out)
    assert found["dynamic, translation"] == ["100.0"] * 6
    assert found["vecalign"] == ["100.0", "50.0", "66.7"] * 2
