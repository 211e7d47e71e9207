"""A picture is PNG and PDF, the same each time."""

import re
from pathlib import Path

import pytest

import fairseq_xl
from fairseq_xl.report.figures import drawable, rendered

PNG = b"\x89PNG\r\n\x1a\n"


def test_pictures_are_the_same_each_time(drawn, tmp_path):
    first = drawn(tmp_path)
    assert first.light.startswith(PNG)
    assert first.dark.startswith(PNG)
    assert (tmp_path / "lines.png").read_bytes() == first.light
    pdf = (tmp_path / "lines.pdf").read_bytes()
    assert pdf.startswith(b"%PDF")
    assert drawn(tmp_path) == first
    assert (tmp_path / "lines.pdf").read_bytes() == pdf


@pytest.mark.parametrize("text", ["cost $5 and more", "$x_{", "$$", r"$\frac{1}$ \alpha", "$\\", "a$b$c"])
@pytest.mark.parametrize("kind", ["png", "pdf", "svg"])
def test_a_dollar_in_a_name_is_one(text, kind):
    def draw(figure):
        axes = figure.subplots()
        axes.plot([1, 2], [1, 2], label=text)
        axes.set(title=text, xlabel=text, ylabel=text)
        axes.set_xticks([1, 2], [text, text])
        axes.text(1, 1, text)
        axes.annotate(text, (1, 1))
        figure.colorbar(axes.imshow([[0, 1], [1, 0]]), label=text)
        axes.legend(title=text)
        figure.legend(loc="outside right upper")
        figure.suptitle(text)

    assert len(rendered(draw, (4, 3), kind)) > 1000


def test_symbols_that_the_font_lacks_are_named():
    assert drawable("💕") == "two hearts"
    assert drawable("🇺🇸") == "US"
    assert drawable("❤\ufe0f") == "❤"
    assert drawable("good 😂") == "good 😂"
    assert drawable("తె") == "తె", "letters are no symbols"


def test_no_figure_is_drawn_elsewhere():
    """What parses no formulas is :func:`rendered` alone."""
    package = Path(fairseq_xl.__file__).parent
    drawing = [path for path in package.rglob("*.py") if re.search(r"pyplot|savefig|Figure\(", path.read_text("utf-8"))]
    assert drawing == [package / "report" / "figures.py"]
