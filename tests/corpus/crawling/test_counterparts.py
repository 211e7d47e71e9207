"""Which page is another's counterpart, and why one is not."""

from __future__ import annotations

from .conftest import REDIRECT, crawl, fr, links, page, pairs


def test_finds_counterparts_by_patterns_and_links(serve, tmp_path):
    def switch(path: str) -> str:
        return f'<div class="lang"><a href="{path}">x</a></div>'

    site = serve(
        {
            "/manual/": page(links("one.html", "two.html", "three.html")),
            "/manual/fr/": page("fr 0", "fr-CA"),
            "/manual/one.html": page("one" + switch("/un.html")),
            "/un.html": page("fr 1", "fr"),
            "/manual/two.html": page("two <a href='/deux.html?a=1&amp;b=2'>Français</a>"),
            "/deux.html?a=1&b=2": page("fr 2", "fr"),
            "/manual/three.html": page("three"),
        }
    )
    settings = {
        "base": [f"{site.url}/manual/"],
        "url_patterns": [["^/manual/(?!fr/)(.*)$", r"/manual/fr/\1"]],
        "link_selectors": [".lang a"],
        "link_patterns": ["href='([^']+)'>Français"],
    }
    report = crawl(tmp_path, site, **settings)
    assert pairs(tmp_path) == {
        ("/manual/", "/manual/fr/", "pattern"),
        ("/manual/one.html", "/un.html", "link"),
        ("/manual/two.html", "/deux.html?a=1&b=2", "link"),
    }
    ((missing, why),) = report["pages without counterpart"]
    assert missing.endswith("/three.html")
    assert "fr/three.html: failed (404)" in why


def test_counterparts_that_are_not(serve, tmp_path):
    home = '<a hreflang="en" href="/">English</a>'
    site = serve(
        {
            "/": page(links("/news", "/same", "/german", "/self", "/only", "/print"), head=fr("/fr/")),
            "/print": page(links("/news", "/same", "/german", "/self", "/only", "/print"), head=fr("/fr/")),
            "/fr/": page("accueil " + home, "fr"),
            "/news": page("not translated: leads home", head=fr("/fr/")),
            "/same": page("the counterpart is the same", head=fr("/fr/same")),
            "/fr/same": page("the counterpart is the same", head=fr("/fr/same")),
            "/german": page("the counterpart is German", head=fr("/fr/german")),
            "/fr/german": page("deutsch", "de"),
            "/self": page("leads back", head=fr("/fr/self")),
            "/fr/self": (302, REDIRECT | {"Location": "/self"}, b""),
            "/only": page("names none"),
        }
    )
    report = crawl(tmp_path, site)
    assert pairs(tmp_path) == {("/", "/fr/", "hreflang")}
    elsewhere = {
        url.removeprefix(site.url): why.replace(site.url, "")
        for url, why in report["pages whose counterpart is elsewhere"]
    }
    assert elsewhere == {
        "/news": "/fr/ names /",
        "/same": "/fr/same is the same page",
        "/german": "/fr/german is in de",
        "/self": "/self is the page itself",
    }
    assert report["counterpart elsewhere"] == 4
    assert [url for url, _ in report["repeated pages"]] == [f"{site.url}/print"]
