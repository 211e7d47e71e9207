"""The page in a real browser: nothing is cut off on a phone, and dark mode is dark.

Runs where the package playwright is installed and there is a Chromium: the one that FAIRSEQ_XL_BROWSER names, the
system's (`apt-get install chromium`), or playwright's own (`playwright install chromium`). CI brings what is missing.
"""

import base64
import os
import re
import shutil

import pytest

from fairseq_xl.report.figures import draw_picture
from fairseq_xl.report.page import Pair, Section, Translations, page
from fairseq_xl.report.tables import Table

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
PHONE = {"width": 375, "height": 667}  # CSS pixels


@pytest.fixture
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
