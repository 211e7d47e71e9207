"""The page in a real browser: nothing is cut off on a phone, and dark mode is dark.

Runs where the package playwright is installed and there is a Chromium: the one that FAIRSEQ_XL_BROWSER names, the
system's (`apt-get install chromium`), or playwright's own (`playwright install chromium`). CI brings what is missing.
"""

import base64
import os
import re
import shutil

import experiments
import pytest

from fairseq_xl.cli.main import main
from fairseq_xl.report.figures import draw_picture
from fairseq_xl.report.page import Pair, Section, Translations, page
from fairseq_xl.report.tables import Table

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
PHONE = {"width": 375, "height": 667}  # CSS pixels


WIDE = {"width": 1280, "height": 800}


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        system = shutil.which("chromium") or shutil.which("google-chrome")
        path = os.environ.get("FAIRSEQ_XL_BROWSER") or system or started.chromium.executable_path
        if not os.path.exists(path):
            pytest.skip("there is no Chromium: install the system's, or run `playwright install chromium`")
        launched = started.chromium.launch(executable_path=path)
        yield launched
        launched.close()


def written(folder, picture):
    table = Table("Scores", [f"a rather long heading {n}" for n in range(12)])
    table.add(*["38.5 ± 0.6"] * 12)
    table.notes.append("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0")
    words = ([("dog", False)] * 40, [("cat", True)] * 40)
    pair = Pair(7, "ein Hund " * 20, "a dog " * 20, (60.0, 10.0), words)
    sections = [
        Section("Scores", "What it shows.", [table], [picture]),
        Section("Sentences", translations=[Translations(("one", "two"), [pair])]),
    ]
    path = folder / "index.html"
    path.write_text(page("A title", sections, ["Trained on a processor."]), encoding="utf-8")
    return path.as_uri()


def brightness(colour):
    return sum(map(float, re.findall(r"[\d.]+", colour)[:3])) / 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone(browser, tmp_path, scheme):
    picture = draw_picture(tmp_path, "a", "A caption.", lambda figure: figure.subplots().plot([1, 2]), (13.0, 4.0))
    address = written(tmp_path, picture)
    tab = browser.new_context(viewport=PHONE, color_scheme=scheme, is_mobile=True).new_page()
    asked, said = [], []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("console", lambda message: said.append(message.text))
    tab.goto(address)
    tab.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert tab.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], "what is wide scrolls by itself"
    assert tab.evaluate("visualViewport.width") == PHONE["width"]
    ground, ink = (tab.evaluate(f"getComputedStyle(document.body).{name}") for name in ("backgroundColor", "color"))
    assert (brightness(ground) < brightness(ink)) == (scheme == "dark")
    shown = base64.b64decode(tab.evaluate("document.images[0].currentSrc").removeprefix("data:image/png;base64,"))
    assert shown == getattr(picture, scheme)
    assert tab.evaluate("document.images[0].naturalWidth") > 0
    assert [url for url in asked if not url.startswith("data:")] == [address], "nothing is fetched"
    assert not said


@pytest.fixture
def page_of(tmp_path, make_run):
    """``page_of(KIND)``: the address of the page of a made-up experiment of that kind."""

    def made(kind: str) -> str:
        out, options = tmp_path / "out", []
        if kind == "translations":
            systems = {name: (name, 1) for name in ("ce", "proj")}
            for name, share in (("ce", 0.5), ("proj", 0.2)):
                make_run(name, share=share)
            experiments.write_state(out, systems, {"ce": "softmax", "proj": "projection"}, "ce")
        elif kind == "classes":
            experiments.classes(out)
        else:
            pytest.importorskip("sklearn")
            experiments.pairs(out)
            options = ["--paper"]
        assert main(["experiment", "report", str(out), "--samples", "20", *options]) == 0
        return (out / "report" / "index.html").as_uri()

    return made


@pytest.mark.parametrize(("kind", "pictures"), [("translations", 1), ("classes", 5), ("pairs", 2)])
def test_an_experiment_of_each_kind(browser, page_of, kind, pictures):
    address = page_of(kind)
    for size, scheme in ((PHONE, "light"), (WIDE, "dark")):
        context = browser.new_context(viewport=size, color_scheme=scheme, is_mobile=size is PHONE)
        tab = context.new_page()
        said: list[str] = []
        tab.on("console", lambda message, said=said: said.append(message.text))
        tab.on("pageerror", lambda error, said=said: said.append(str(error)))
        tab.goto(address)
        tab.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        assert tab.evaluate("document.documentElement.scrollWidth") <= size["width"], "what is wide scrolls by itself"
        images = tab.evaluate("[...document.images].map(each => [each.complete && each.naturalWidth, each.alt])")
        assert len(images) == pictures
        assert all(width > 100 and len(alt) > 20 for width, alt in images)
        # None is larger than it was drawn: letters would be, too.
        shown = tab.evaluate("[...document.images].map(each => each.getBoundingClientRect().width)")
        assert all(width <= natural / 130 * 96 + 1 for width, (natural, _) in zip(shown, images, strict=True))
        assert not said
        context.close()
