"""The pages and the queue on disk."""

from __future__ import annotations

from fairseq_xl.corpus.crawling.pages import Pages, remove


def test_remove_forgets_the_queue(tmp_path):
    with Pages(tmp_path) as kept:
        assert kept.add(["http://x/a", "http://x/b", "http://x/a"]) == ["http://x/a", "http://x/b"]
        assert kept.add(["http://x/b"]) == []
    with Pages(tmp_path) as kept:
        assert kept.waiting() == ["http://x/a", "http://x/b"]
    remove(tmp_path)
    with Pages(tmp_path) as kept:
        assert kept.waiting() == []
