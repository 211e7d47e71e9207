"""Tagging a lot of text: in parallel over processes or machines, and never the same sentence twice."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.databases import Cache
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import count_lines, read_lines
from fairseq_xl.io.packages import require
from fairseq_xl.io.progress import progress_bar
from fairseq_xl.io.settings import option
from fairseq_xl.syntactic.data.filters import tidy
from fairseq_xl.syntactic.tagging.taggers import Tagger, load_tagger
from fairseq_xl.text.workers import workers

Engine = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]
"""``engine(work, items)`` yields ``work(item)`` for each item, in order, with a bounded number in flight."""
BATCH = 1000
"""Sentences that a worker takes at once: some seconds of work."""

_tagger_here = cache(load_tagger)


@dataclass(kw_only=True)
class Tagging:
    """How a lot of text is tagged."""

    cache: Path | None = option(
        "file that keeps tags by sentence, so that none is tagged twice (of prepare: beside the corpus, tags.sqlite)",
        None,
        metavar="FILE",
    )
    processes: int = option("processes that tag at the same time", 1, metavar="N", low=1, high=1024)
    ray: bool = option("spread over the machines of a running Ray cluster (scripts/setup.sh --extras ray)", False)

    def engine(self) -> Engine:
        """Raises: InputError: Ray is asked for and not installed."""
        return over_ray() if self.ray else over_processes(self.processes)


def tag_batch(name: str, language: str, sentences: list[str]) -> list[str]:
    """The tags of each sentence, separated by spaces; what every worker runs, wherever it is."""
    return [" ".join(tags) for tags in _tagger_here(name, language).tag(sentences)] if sentences else []


def over_processes(processes: int) -> Engine:
    """Worker processes on this machine; 1 for none but this."""

    def engine(work: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        if processes <= 1:
            yield from map(work, items)
            return
        with workers(processes, "tags") as pool:
            yield from _in_order(items, lambda item: pool.submit(work, item), lambda job: job.result(), 2 * processes)

    return engine


def over_ray() -> Engine:
    """The machines of a Ray cluster, or this one where no cluster is running.

    Every machine needs this package, and the tagger under the same name.

    Raises:
        InputError: Ray is not installed.
    """
    ray = require("ray", "ray", "tagging over machines")

    def result(job: Any) -> Any:
        try:
            return ray.get(job)
        except ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, InputError):
                raise error.cause from None
            raise

    def engine(work: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        if not ray.is_initialized():
            ray.init()
        in_flight = 2 * max(1, int(ray.cluster_resources().get("CPU", 1)))
        # Ray takes functions only, not objects that can be called.
        yield from _in_order(items, ray.remote(lambda item: work(item)).remote, result, in_flight)

    return engine


def _in_order(
    items: Iterable[Any], submit: Callable[[Any], Any], result: Callable[[Any], Any], in_flight: int
) -> Iterator[Any]:
    jobs: deque[Any] = deque()
    for item in items:
        jobs.append(submit(item))
        if len(jobs) >= in_flight:
            yield result(jobs.popleft())
    while jobs:
        yield result(jobs.popleft())


def tag_sentences(
    sentences: Iterable[str], name: str, language: str, tagger: Tagger, known: Cache, engine: Engine
) -> Iterator[str]:
    """Yield the tags of each sentence, in order, from the cache or by the tagger that ``name`` stands for.

    Args:
        tagger: the same one, loaded: its fingerprint is asked for.
        engine: :func:`over_processes` or :func:`over_ray`.
    """
    waiting: deque[tuple[list[str], list[str | None]]] = deque()

    def unknown() -> Iterator[list[str]]:
        stream = iter(sentences)
        while batch := list(islice(stream, BATCH)):
            found = known.get(tagger.fingerprint, batch)
            waiting.append((batch, found))
            yield [text for text, tags in zip(batch, found, strict=True) if tags is None]

    for new in engine(partial(tag_batch, name, language), unknown()):
        batch, found = waiting.popleft()
        missing = [text for text, tags in zip(batch, found, strict=True) if tags is None]
        known.put(tagger.fingerprint, missing, new)
        fresh = iter(new)
        yield from (next(fresh) if tags is None else tags for tags in found)


def tag_file(source: Path, target: Path, name: str, language: str, cached: Path | None, engine: Engine) -> int:
    """Write a table ``text``, ``upos`` of a text file's lines; returns their number."""
    tagger = load_tagger(name, language)
    lines = count_lines(source)
    bar = progress_bar(f"tags {source.name}", True, lines, " sentences")
    with closing(Cache(cached or ":memory:", "a cache of tags")) as known, bar, atomic_text(target) as stream:
        stream.write("text\tupos\n")
        tags = tag_sentences(map(tidy, read_lines(source)), name, language, tagger, known, engine)
        for text, found in zip(map(tidy, read_lines(source)), tags, strict=True):
            stream.write(f"{text}\t{found}\n")
            bar.update()
    return lines
