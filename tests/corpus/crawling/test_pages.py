"""The pages and the queue on disk."""

from __future__ import annotations

import pytest

from fairseq_xl.corpus.crawling.pages import Pages, forget, read_jsonl
from fairseq_xl.io.errors import InputError


def test_a_forgotten_queue_is_empty(tmp_path):
    with Pages(tmp_path) as kept:
        assert kept.add(["http://x/a", "http://x/b", "http://x/a"]) == ["http://x/a", "http://x/b"]
        assert kept.add(["http://x/b"]) == []
    with Pages(tmp_path) as kept:
        assert kept.waiting() == ["http://x/a", "http://x/b"]
    forget(tmp_path)
    with Pages(tmp_path) as kept:
        assert kept.waiting() == []


def test_a_torn_file_of_pages_is_named(tmp_path):
    path = tmp_path / "pages.jsonl"
    path.write_text('{"url": "http://x/a"}\n{"url": "http:')
    rows = read_jsonl(path)
    assert next(rows) == {"url": "http://x/a"}
    with pytest.raises(InputError, match=r"pages\.jsonl, line 2: .*; run the crawl again"):
        next(rows)
