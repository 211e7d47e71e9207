"""Aligners on pages whose paragraphs have ids."""

from __future__ import annotations

import markdown_tables
import pytest

from fairseq_xl.cli.main import main
from fairseq_xl.corpus.alignment.gold_pages import compare_pages, read_pages

WORDS = {"red": "rouge", "house": "maison", "long": "grand", "river": "fleuve", "small": "petit", "bird": "oiseau"}


@pytest.fixture
def folders(tmp_path):
    """Two pages: one with as many paragraphs, one whose second language lacks the first paragraph."""
    for code, say in (("en", lambda word: word), ("fr", WORDS.__getitem__)):
        for name in ("a", "b"):
            body = "".join(
                f'<p id="p{n}">' + " ".join(say(w) for w in (list(WORDS) * 2)[n : n + n % 3 + 2]) for n in range(6)
                if not (code == "fr" and name == "b" and n == 0)
            )  # fmt: skip
            path = tmp_path / code / "text" / f"{name}.html"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"<h1 id=h>Help me</h1><nav id=n>menu</nav><p>no id</p>{body}<p id=e> </p>")
    (tmp_path / "en" / "alone.html").write_text("<p id=x>alone")
    return tmp_path / "en", tmp_path / "fr"


def test_gold_is_of_equal_ids(folders):
    first, second = read_pages(*folders)
    assert first.gold == [([k], [k]) for k in range(7)]
    assert second.gold == [([0], [0]), *(([k + 1], [k]) for k in range(1, 6))]
    assert [page.gold for page in read_pages(*folders, most=1)] == [first.gold]
    dropped = read_pages(*folders, drop=0.5)
    assert sum(len(page.gold) for page in dropped) == sum(len(page.second) for page in dropped) < 13


def test_some_pages_are_spread_over_the_names(folders):
    for folder in folders:
        for name in "cde":
            (folder / "text" / f"{name}.html").write_text(f"<h1 id=h>Help {name}</h1><p id=p>Read {name}.</p>")
    third = read_pages(*folders, most=3)[2]  # a, b and d of five
    assert third.first == ["Help d", "Read d."]


def test_aligners_on_pages(folders, capsys):
    """Line beside line finds 7 and 1 of 7 and 6 pairs, with 7 and 6 beads."""
    assert main(["corpus", "align-pages", *map(str, folders)]) == 0
    said = capsys.readouterr().out
    assert said.splitlines()[0].endswith("13 gold pairs (2 alike in both) on 2 pages, 1 with equally many paragraphs")
    rows = markdown_tables.by_name(said)
    assert rows["same place (paper)"] == ["61.5", "61.5", "61.5", "100.0", "16.7", "100.0", "54.5"]
    assert float(rows["dynamic, lengths"][2]) > 61.5
    assert compare_pages(read_pages(*folders)[:1]).markdown().count("–") == 3


def test_folders_that_do_not_fit(folders, tmp_path, capsys):
    assert main(["corpus", "align-pages", str(folders[0]), str(tmp_path / "de")]) == 2
    assert "there is no folder" in capsys.readouterr().err
    assert main(["corpus", "align-pages", str(folders[0]), str(tmp_path)]) == 2
    assert "no .html page of the same name" in capsys.readouterr().err
