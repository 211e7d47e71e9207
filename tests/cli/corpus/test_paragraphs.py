"""``fairseq-xl corpus paragraphs`` on two small manuals."""

from __future__ import annotations

import pytest

from fairseq_xl.cli.main import main

ENGLISH = """<html><body><h1 id="a">Opening <b>a file</b></h1>
<p id="b">Choose a name. Press the key.</p><p id="c">Only in English here.</p>
<p id="d">Not translated yet.</p><p id="twice">One of two.</p><p id="twice">Two of two.</p>
<li id="outer"><p id="e">Close the window.</p></li><p>No id at all.</p><p id="f">Word</p></body></html>"""
DUTCH = """<html><body><p id="b">Kies een naam.
 Druk op de toets.</p><h1 id="a">Een bestand openen</h1><p id="d">Not translated yet.</p>
<p id="twice">Een van twee.</p><li id="outer"><p id="e">Sluit het venster. Wacht even.</p></li>
<p id="f">Woord</p></body></html>"""


@pytest.fixture
def manuals(tmp_path):
    for language, page in (("en", ENGLISH), ("nl", DUTCH)):
        folder = tmp_path / language / "text"
        folder.mkdir(parents=True)
        (folder / "open.html").write_text(page)
        (folder / f"only_{language}.html").write_text(page)
    # The same words on another page are no other pair.
    for language, page in (("en", ENGLISH), ("nl", DUTCH)):
        (tmp_path / language / "again.html").write_text(page)
    return tmp_path


def written(folder, *options):
    output = folder / "pairs.tsv"
    assert main(["corpus", "paragraphs", str(folder / "en"), str(folder / "nl"), "-o", str(output), *options]) == 0
    return [tuple(line.split("\t")) for line in output.read_text().splitlines()]


def test_paragraphs_of_the_same_id(manuals, capsys):
    assert written(manuals) == [
        ("Opening a file", "Een bestand openen"),
        ("Choose a name. Press the key.", "Kies een naam. Druk op de toets."),
        ("Close the window.", "Sluit het venster. Wacht even."),
    ]
    assert capsys.readouterr().err == "2 pages, 3 written, 2 untranslated, 3 duplicate\n"


def test_sentences_where_both_sides_have_as_many(manuals, capsys):
    assert written(manuals, "--sentences", "en", "nl") == [
        ("Opening a file", "Een bestand openen"),
        ("Choose a name.", "Kies een naam."),
        ("Press the key.", "Druk op de toets."),
    ]
    assert "2 unequal" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("other", "reason"), [("nothing", "there is no folder"), ("empty", "no .html page of the same")]
)
def test_folders_that_do_not_fit(manuals, other, reason, capsys):
    (manuals / "empty").mkdir()
    output = manuals / "pairs.tsv"
    assert main(["corpus", "paragraphs", str(manuals / "en"), str(manuals / other), "-o", str(output)]) == 2
    assert reason in capsys.readouterr().err
    assert not output.exists()


def test_pages_without_a_paragraph_in_common(manuals, capsys):
    (manuals / "nl" / "again.html").write_text("<p>Geen</p>")
    (manuals / "nl" / "text" / "open.html").write_text("")
    output = manuals / "pairs.tsv"
    assert main(["corpus", "paragraphs", str(manuals / "en"), str(manuals / "nl"), "-o", str(output)]) == 2
    assert "align these pages" in capsys.readouterr().err
    assert not output.exists()
