"""The pictures of README.md and docs/, and the script that draws them."""

from __future__ import annotations

import re

import figures
import pytest
from doc_pages import DOCS, PAGES

from fairseq_xl.report.figures import rendered


def test_every_picture_is_drawn_shown_and_described():
    kept = {path.stem for path in (DOCS / "figures").glob("*.png")}
    assert kept == figures.DRAWN.keys()
    shown: dict[str, str] = {}
    for page in PAGES:
        for text, file in re.findall(r"!\[([^\]]*)\]\(([^)]*)\)", page.read_text(encoding="utf-8")):
            assert len(text.split()) >= 8, f"{page.name}: say in words what {file} shows"
            shown[file.rpartition("/")[2].removesuffix(".png")] = text
    assert shown.keys() == kept


def test_every_picture_can_be_drawn():
    for name, (draw, (width, height)) in figures.DRAWN.items():
        svg = rendered(draw, (width, height), "svg").decode()
        assert "$" not in re.sub(r"<style.*?</style>", "", svg, flags=re.DOTALL), f"{name}: a formula that is none"


def test_bleu_is_that_of_the_records():
    from matplotlib.figure import Figure
    from results import groups, score

    figure = Figure()
    figures.bleu_by_loss(figure)
    values = [score(record, 5) for record in groups()["Multi30k de→en", "`vmf`"]]
    said = {text.get_text() for text in figure.axes[0].texts}
    assert f"{sum(values) / len(values):.1f}" in said
    assert len(said) == len(figures.LOSSES)


def test_an_unknown_name_is_refused(capsys):
    with pytest.raises(SystemExit):
        figures.main(["nothing"])
    assert "there is no picture nothing: the names are continuous-output" in capsys.readouterr().err
