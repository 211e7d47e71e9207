"""The pages and the queue on disk."""

from __future__ import annotations

from fairseq_xl.corpus.crawling.pages import Pages, forget


def test_a_forgotten_queue_is_empty(tmp_path):
    with Pages(tmp_path) as kept:
        assert kept.add(["http://x/a", "http://x/b", "http://x/a"]) == ["http://x/a", "http://x/b"]
        assert kept.add(["http://x/b"]) == []
    with Pages(tmp_path) as kept:
        assert kept.waiting() == ["http://x/a", "http://x/b"]
    forget(tmp_path)
    with Pages(tmp_path) as kept:
        assert kept.waiting() == []
