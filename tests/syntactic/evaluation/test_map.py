from __future__ import annotations

import csv
import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest

from fairseq_xl.cli.main import main
from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.evaluation.map import COLOURS, MARKERS, choose, page
from fairseq_xl.syntactic.tagging.tagged_text import TaggedText

A, B, C = ("NOUN",), ("NOUN", "VERB"), ("X",)


def text(language: str, *upos: tuple[str, ...]) -> TaggedText:
    sentences = [f"{language}{i} </script> <b> & é" for i in range(len(upos))]
    return TaggedText(Path(f"{language}.tsv"), language, sentences, list(upos), [])


def test_the_most_frequent_sequences_of_all_languages_are_chosen() -> None:
    texts = [text("de", A, B, C, B), text("en", B, A)]
    chosen = choose(texts, groups=2, most=100)
    assert chosen.patterns == [B, A]
    assert [rows.tolist() for rows in chosen.rows] == [[0, 1, 3], [0, 1]]
    assert chosen.pattern.tolist() == [1, 0, 0, 0, 1]
    assert chosen.language.tolist() == [0, 0, 0, 1, 1]
    assert [sentence[:3] for sentence in chosen.sentences] == ["de0", "de1", "de3", "en0", "en1"]


def test_a_sample_is_seeded_and_keeps_the_order() -> None:
    texts = [text("de", *[A] * 50), text("en", *[A] * 50)]
    first, again, other = (choose(texts, 1, 20, seed) for seed in (1, 1, 2))
    assert first.sentences == again.sentences != other.sentences
    assert len(first.sentences) == 20
    expected = [texts[t].texts[row] for t in (0, 1) for row in first.rows[t]]
    assert first.sentences == expected


def test_limits_are_said() -> None:
    with pytest.raises(InputError, match=f"from 1 to {len(COLOURS)}"):
        choose([text("de", A)], len(COLOURS) + 1, 10)
    with pytest.raises(InputError, match="--most -3 leaves nothing to show"):
        choose([text("de", A)], 1, -3)
    with pytest.raises(InputError, match=f"at most {len(MARKERS)} languages"):
        choose([text(f"l{i}", A) for i in range(len(MARKERS) + 1)], 1, 10)


def test_the_recipes_languages_have_shapes() -> None:
    recipes = Path(__file__).parents[3] / "recipes"
    asked = re.search(r"LANGUAGES='(.+?)' UNSEEN='(.+?)'", (recipes / "syntactic.sh").read_text())
    gold = re.search(r"^GOLD_ONLY=(\w+)", (recipes / "lib/syntactic/prepare.sh").read_text(), re.MULTILINE)
    languages = f"{asked[1]} {asked[2]} {gold[1]}".split()
    assert len(languages) == 9
    assert len(choose([text(language, A) for language in languages], 1, 10).rows) == 9


def test_the_page_holds_its_data_and_nothing_from_outside() -> None:
    pytest.importorskip("jinja2")
    texts = [text("de", A, B), text("en", A)]
    chosen = choose(texts, 2, 10)
    html = page("Map <1>", "A note.", np.array([[0.0, 5], [1, 5], [2, 7]]), chosen, ["de", "en"])
    held = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    data = json.loads(held.group(1))
    assert data["sentences"] == [t.texts[i] for t, i in ((texts[0], 0), (texts[0], 1), (texts[1], 0))]
    assert (data["x"], data["y"]) == ([0, 0.5, 1], [0, 0, 1])
    assert data["patterns"] == ["NOUN", "NOUN VERB"]
    assert "Map <1>" not in html
    assert "Map <1>" in unescape(html)
    assert not re.search(r"(src|href)=|https?://|@import|fetch\(", html)


def test_every_language_has_a_shape_on_the_page() -> None:
    """Shapes of the page and of the picture are in the same order and number."""
    html = (Path(__file__).parents[3] / "fairseq_xl/syntactic/evaluation/map.html").read_text()
    symbols = re.search(r"\[((?:\"[^\"]\", )*\"[^\"]\")\]\[i\]", html).group(1)
    assert symbols.count('"') // 2 == len(MARKERS)


@pytest.mark.parametrize("encoder", ["tags", "characters"])
def test_the_command_writes_picture_and_page(tmp_path: Path, capsys, encoder: str) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    for language in ("de", "en"):
        rows = [f"{language} {i} x\t{tags}" for i, tags in enumerate(["NOUN", "NOUN VERB", "X"] * 4)]
        (tmp_path / f"{language}.tsv").write_text("\n".join(["text\tupos", *rows]) + "\n")
    output = tmp_path / "out" / "map"
    assert main(["embed", "map", encoder, "--sets", str(tmp_path), "-o", str(output), "--groups", "2"]) == 0
    assert capsys.readouterr().out.split() == [f"{output}.{ending}" for ending in ("png", "pdf", "html", "csv")]
    with Path(f"{output}.csv").open(encoding="utf-8", newline="") as stream:
        points = list(csv.DictReader(stream))
    assert len(points) == 16
    assert {row["tags"] for row in points} == {"NOUN", "NOUN VERB"}
    assert points[0]["language"] == "de"
    assert points[0]["sentence"] == "de 0 x"
    assert all(float(row["x"]) ** 2 + float(row["y"]) ** 2 < 10 for row in points)
    assert Path(f"{output}.png").read_bytes().startswith(b"\x89PNG")
    html = Path(f"{output}.html").read_text()
    assert "16 sentences of the 2 most frequent tag sequences, PCA (" in html


def test_files_are_not_written_beside_a_device(tmp_path, capsys):
    assert main(["embed", "map", "length", "--sets", str(tmp_path), "-o", "/dev/null"]) == 2
    assert "--output /dev/null is no file: give the beginning of the files' names" in capsys.readouterr().err
