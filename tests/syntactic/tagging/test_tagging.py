"""Tagging in parallel, and never twice."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import types
from contextlib import closing
from functools import partial

import pytest

from fairseq_xl.io.databases import Cache
from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.tagging import tagging
from fairseq_xl.syntactic.tagging.tagging import over_processes, over_ray, tag_file, tag_sentences

TWO_WORKERS = """
import json, sys
from functools import partial
import ray
from ray.cluster_utils import Cluster
from fairseq_xl.syntactic.tagging.tagging import over_ray, tag_batch
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
try:
    cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address)
    tags = list(over_ray()(partial(tag_batch, sys.argv[1], "de"), [["Ich sehe eins und zwei Katzen."], []] * 8))
    print(json.dumps([[node["Resources"]["CPU"] for node in ray.nodes()], tags]))
finally:
    ray.shutdown()
    cluster.shutdown()
"""


class Counting:
    """A tagger that tags each word by its length and remembers what it was asked."""

    fingerprint = "lengths"

    def __init__(self):
        self.asked = []

    def tag(self, sentences):
        self.asked += sentences
        return [["X" * len(word) for word in text.split()] for text in sentences]


@pytest.fixture
def tagger(monkeypatch):
    found = Counting()
    monkeypatch.setattr(tagging, "_tagger_here", lambda name, language: found)
    monkeypatch.setattr(tagging, "load_tagger", lambda name, language: found)
    monkeypatch.setattr(tagging, "BATCH", 3)
    return found


def killed(number):
    os._exit(9)


def test_a_killed_process_is_said():
    with pytest.raises(InputError, match="a process that tags was killed"):
        list(over_processes(2)(killed, range(3)))


def twice(number):
    return 2 * number


@pytest.mark.parametrize("processes", [1, 2])
def test_an_engine_keeps_the_order(processes):
    assert list(over_processes(processes)(twice, range(23))) == list(range(0, 46, 2))


def test_an_engine_reads_only_a_little_ahead():
    """A generator of millions must not be drained into memory."""
    taken = []

    def items():
        for number in range(1000):
            taken.append(number)
            yield number

    results = tagging._in_order(items(), twice, lambda job: job, 4)
    assert next(results) == 0
    assert len(taken) == 4


def test_ray_stands_behind_the_same_function(monkeypatch):
    """A stand-in for Ray, which is no package of the tests: remote functions give references that get() resolves."""
    calls = []

    def remote(work):
        assert isinstance(work, types.FunctionType)  # else Ray raises TypeError
        return types.SimpleNamespace(remote=lambda item: calls.append(item) or ("reference", work(item)))

    fake = types.SimpleNamespace(
        is_initialized=lambda: False,
        init=lambda: calls.append("init"),
        remote=remote,
        get=lambda reference: reference[1],
        cluster_resources=lambda: {"CPU": 2.0},
    )
    monkeypatch.setitem(sys.modules, "ray", fake)
    assert list(over_ray()(twice, range(9))) == list(range(0, 18, 2))
    assert calls == ["init", *range(9)]
    calls.clear()
    assert list(over_ray()(partial(tagging.tag_batch, "name", "en"), [[]])) == [[]]


def test_mistakes_that_a_worker_of_ray_finds_keep_their_sentence(monkeypatch):
    class RayTaskError(Exception):
        cause = InputError("there is no tagger")

    def get(reference):
        raise RayTaskError("a traceback of another machine")

    fake = types.SimpleNamespace(
        is_initialized=lambda: True,
        remote=lambda work: types.SimpleNamespace(remote=work),
        get=get,
        cluster_resources=dict,
        exceptions=types.SimpleNamespace(RayTaskError=RayTaskError),
    )
    monkeypatch.setitem(sys.modules, "ray", fake)
    with pytest.raises(InputError, match=r"^there is no tagger$"):
        list(over_ray()(twice, [1]))
    RayTaskError.cause = ValueError()
    with pytest.raises(RayTaskError):
        list(over_ray()(twice, [1]))


@pytest.mark.slow
def test_ray_itself(multilingual):
    ray = pytest.importorskip("ray", reason="Ray is not installed: bash scripts/setup.sh --extras ray")
    try:
        treebank = str(multilingual.treebank("de"))
        batches = [["Ich sehe eins und zwei Katzen."], []]
        found = list(over_ray()(partial(tagging.tag_batch, treebank, "de"), batches))
        assert found == [["PRON VERB NUM CCONJ NUM NOUN PUNCT"], []]
        with pytest.raises(InputError, match="there is no tagger nowhere for 'de'"):
            list(over_ray()(partial(tagging.tag_batch, "nowhere", "de"), batches))
    finally:
        ray.shutdown()


@pytest.mark.slow
def test_a_ray_cluster_of_two_workers_tags_as_one_process_does(multilingual):
    """Each worker is a Ray node of its own, with one processor, on the loopback."""
    pytest.importorskip("ray", reason="Ray is not installed: bash scripts/setup.sh --extras ray")
    treebank = str(multilingual.treebank("de"))
    # Ray's nodes ask each other for a token, which a process reads once, when it imports Ray.
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    done = subprocess.run(
        [sys.executable, "-c", TWO_WORKERS, treebank],
        env={**os.environ, **token},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    nodes, tags = json.loads(done.stdout.splitlines()[-1])
    assert nodes == [1, 1]
    assert tags == [["PRON VERB NUM CCONJ NUM NOUN PUNCT"], []] * 8


def test_without_ray(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"bash scripts/setup.sh --extras ray"):
        over_ray()


def test_what_was_tagged_is_not_tagged_again(tagger, tmp_path):
    texts = [f"{'a' * number} b" for number in range(1, 11)]
    with closing(Cache(tmp_path / "tags.sqlite", "a cache of tags")) as cache:
        cache.put("lengths", texts[4:6], ["from the", "cache"])
        found = list(tag_sentences(iter(texts), "name", "en", tagger, cache, over_processes(1)))
        expected = [f"{'X' * number} X" for number in range(1, 11)]
        expected[4:6] = ["from the", "cache"]
        assert found == expected
        assert tagger.asked == texts[:4] + texts[6:]
        assert list(tag_sentences(iter(texts), "name", "en", tagger, cache, over_processes(1))) == found
        assert len(tagger.asked) == 8


def test_a_killed_run_keeps_the_batches_that_were_tagged(tagger, tmp_path):
    texts = [f"{'a' * number} b" for number in range(1, 11)]
    with closing(Cache(tmp_path / "tags.sqlite", "a cache of tags")) as cache:
        stream = tag_sentences(iter(texts), "name", "en", tagger, cache, over_processes(1))
        next(stream)
        stream.close()
        list(tag_sentences(iter(texts), "name", "en", tagger, cache, over_processes(1)))
    assert tagger.asked == texts


def test_a_file(tagger, tmp_path):
    source = tmp_path / "x.txt"
    source.write_text("a  bb\n\nccc\n", encoding="utf-8")
    assert tag_file(source, tmp_path / "x.tsv", "name", "en", None, over_processes(1)) == 3
    assert (tmp_path / "x.tsv").read_text() == "text\tupos\na bb\tX XX\n\t\nccc\tXXX\n"
