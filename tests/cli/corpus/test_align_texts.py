"""``fairseq-xl corpus align-texts``: two plain texts."""

from __future__ import annotations

import pytest

from fairseq_xl.cli.main import main
from fairseq_xl.corpus.alignment.quality import read_gold
from fairseq_xl.io.lines import read_lines

ENGLISH = "a red house\n\nthe blue car drives home\nthe dog sleeps\n"
FRENCH = "une maison rouge\nla voiture bleue\nrentre à la maison\n\nle chien dort\n"
ROUGH = "a house red\nthe car blue\ndrives to the home\nnothing at all\nthe dog sleeps\n"


@pytest.fixture
def align(tmp_path):
    """``align("english", "french", *options)`` writes the files and returns the status and the pairs."""

    def run(first, second, *options):
        paths = []
        for name, text in (("a.en", first), ("b.fr", second), ("rough.en", ROUGH)):
            paths.append(tmp_path / name)
            paths[-1].write_text(text)
        output = tmp_path / "pairs.tsv"
        words = [option.format(rough=paths[2], first=paths[0]) for option in options]
        status = main(["corpus", "align-texts", str(paths[0]), str(paths[1]), "-o", str(output), *words])
        return status, output.read_text().splitlines() if output.exists() else []

    return run


def test_on_the_gold_alignments(data_dir, tmp_path, capsys):
    folder = data_dir / "web" / "bleualign_de_fr"
    paths = folder / "dev.de", folder / "dev.fr"
    assert main(["corpus", "align-texts", *map(str, paths), "-o", str(tmp_path / "pairs.tsv")]) == 0
    texts = [[" ".join(line.split()) for line in read_lines(path)] for path in paths]
    gold = {
        tuple(" ".join(text[line] for line in side) for text, side in zip(texts, bead, strict=True))
        for bead in read_gold(folder / "dev.defr", (len(texts[0]), len(texts[1])))
    }
    found = [tuple(line.split("\t")) for line in read_lines(tmp_path / "pairs.tsv")]
    assert f"{len(found)} pairs; " in capsys.readouterr().err
    assert len(found) > 350
    assert sum(pair in gold for pair in found) > 0.7 * len(found)


@pytest.mark.parametrize("options", [(), ("--translation={rough}",), ("--parallel", "{first}", "{first}")])
def test_blank_lines_are_left_out_and_two_lines_joined(align, options, capsys):
    status, pairs = align(ENGLISH, FRENCH, *options)
    assert status == 0
    assert pairs == [
        "a red house\tune maison rouge",
        "the blue car drives home\tla voiture bleue rentre à la maison",
        "the dog sleeps\tle chien dort",
    ]
    assert "3 pairs; 0 of 3 and 0 of 4 lines without a counterpart" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("first", "second", "options", "said"),
    [
        (" \n", FRENCH, (), "a.en has no line of text: there is nothing to align"),
        (ENGLISH, "\n\n", (), "b.fr has no line of text"),
        (ENGLISH, FRENCH + "et encore\n", ("--translation={rough}",), "b.fr has 6 lines and "),
        (ENGLISH * 3000, FRENCH * 3000, (), "texts of 9000 and 12000 lines are too long to be aligned: split them"),
    ],
)
def test_mistakes(align, first, second, options, said, capsys):
    assert align(first, second, *options) == (2, [])
    assert said in capsys.readouterr().err
