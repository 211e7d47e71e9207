"""scripts/benchmark.py at sizes that take no time: every figure there, and those right that can be judged."""

import argparse
import importlib
import json
import math
import random
from functools import partial
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
pytestmark = pytest.mark.slow


@pytest.fixture
def benchmark(forks, tmp_path):
    def run(*arguments):
        fixed = ("--repeats", 2, "--threads", 1, "--output", tmp_path)
        done = forks.run("python-script", ROOT / "scripts" / "benchmark.py", *arguments, *fixed)
        assert done.returncode == 0, done.stderr[-2000:]
        assert (tmp_path / f"{arguments[0]}.png").stat().st_size > 5000
        rows = [json.loads(line) for line in (tmp_path / f"{arguments[0]}.jsonl").read_text().splitlines()]
        for row in rows:
            assert row["signature"]["threads"] == 1
            assert row["signature"]["settings"]["repeats"] == 2
        return rows

    return run


def test_a_ratio_is_the_median_over_turns(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    measure = importlib.import_module("benchmarks.measure")
    times = {"a": [2.0, 4.0, 9.0], "b": [1.0, 2.0, 1.0]}
    assert measure.ratio(times, "a", "b") == 2
    assert measure.ratio(times, "b", "a") == 0.5


def test_bessel(benchmark):
    rows = {(row["d"], row["method"]): row for row in benchmark("bessel", "--dims", 3, 300, "--rows", 256)}
    for dim in (3, 300):
        assert rows[dim, "ours"]["worst_A"] < 1e-12
        assert rows[dim, "ours"]["worst_log_C"] < 1e-12
        assert 1e-5 < rows[dim, "bound"]["worst_A"] < rows[dim, "bound, v − 1"]["worst_A"]
    assert math.isinf(rows[300, "scipy"]["worst_A"]), "ive underflows at κ ≤ 1"


def test_loss(benchmark):
    rows = benchmark("loss", "--rows", 256, "--dims", 32, "--vocabulary", 500, "--kernels", "plain")
    versions = {(row["loss"], row["version"]): row for row in rows}
    assert versions["floor", "copy"]["by_floor"] == 1
    for kind in ("cosine", "syn_margin_proj", "syn_margin_diff"):
        ours, naive = versions[kind, "plain"], versions[kind, "naive"]
        assert naive["by_ours"] == pytest.approx(naive["ms"] / ours["ms"], rel=1)
    assert {("vmf", "scipy"), ("negative_sampling", "rows"), ("most_informative", "rows")} < set(versions)


SMALL = ("--source-words", 300, "--sentences", 3, "--length", 5, "--size", 16)


def test_step(benchmark):
    variants = ("--variants", "softmax", "softmax_sampled", "vmf", "syn_margin_proj_naive")
    rows = benchmark("step", "--words", 900, *SMALL, *variants, "--profile", "--no-memory")
    softmax, sampled, vmf, naive = rows
    assert sampled["parameters"] == softmax["parameters"]
    assert naive["parameters"] == vmf["parameters"]
    assert softmax["parameters"] - vmf["parameters"] == 2 * 904 * 300 + 904, "two tables and a bias"
    assert vmf["by_softmax"] == pytest.approx(softmax["seconds"] / vmf["seconds"], rel=1)
    assert 0 < vmf["loss_share"] < 1
    assert vmf["top_operators"].count("%") == 5
    assert vmf["peak_MiB"] is None


def test_memory_is_that_of_a_process_of_its_own(benchmark):
    (vmf,) = benchmark("step", "--words", 900, *SMALL, "--variants", "vmf")
    assert 1 < vmf["peak_MiB"] < 1000


def test_vocabulary(benchmark):
    rows = benchmark("vocabulary", "--words", 400, 2000, *SMALL, "--softmax-limit", 1000, "--no-memory")
    assert [(row["output"], row["V"]) for row in rows] == [
        ("syn_margin_proj", 400),
        ("syn_margin_proj", 2000),
        ("vmf_posterior_sampled", 400),
        ("vmf_posterior_sampled", 2000),
        ("softmax", 400),
    ]


def test_decode(benchmark):
    options = ("--words", 700, *SMALL, "--nearest", "dense", "top", "flat", "hnsw")
    rows = benchmark("decode", *options, "--beams", 2)
    assert [row["output"] for row in rows] == [
        "softmax",
        *(f"continuous, {nearest}" for nearest in ("dense", "top", "flat", "hnsw")),
    ]
    assert rows[3]["recall_at_10"] == 1
    assert rows[4]["recall_at_10"] > 0.9


@pytest.mark.parametrize("kind", ["continuous", "softmax"])
def test_export(benchmark, kind):
    pytest.importorskip("ctranslate2")
    sizes = ("--words", 300, "--sentences", 3, "--length", 5, "--size", 16, "--layers", 1)
    rows = benchmark("export", *sizes, "--output-kind", kind, "--cpu-time")
    kinds = ("CTranslate2, float32", "CTranslate2, int8")
    with_attention = [f"{kind}{pass_}" for kind in kinds for pass_ in ("", ", aligned")]  # of beams, a pass of its own
    assert [(row["beam"], row["search"]) for row in rows] == [
        *((1, search) for search in ("fairseq", *kinds)),
        *((5, search) for search in ("fairseq", *with_attention)),
    ]
    assert all(row["by_fairseq"] == 1 for row in rows if row["search"] == "fairseq")
    assert all(row["sentences_per_s"] > 0 for row in rows)


def test_siamese(benchmark, tmp_path):
    rows = {
        (row["preset"], row["work"]): row
        for row in benchmark("siamese", "--sentences", 120, "--pairs", 20, "--batches", 1)
    }
    assert len(rows) == 6
    for preset in ("paper", "siamese"):
        grouped, padded = rows[preset, "training"], rows[preset, "training, padded"]
        assert 0 <= grouped["padding"] < padded["padding"] < 0.7
        assert grouped["by_padded"] == pytest.approx(grouped["per_second"] / padded["per_second"], rel=1)
        assert rows[preset, "prediction"]["per_second"] > grouped["per_second"]
        assert rows[preset, "prediction"]["padding"] < 0.2


@pytest.mark.parametrize("name", ["bessel", "decode", "export", "loss", "siamese", "step", "vocabulary"])
def test_every_option_has_help(name, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    parser = argparse.ArgumentParser()
    importlib.import_module(f"benchmarks.{name}").configure(parser)
    assert len(parser._actions) > 1
    assert [action.dest for action in parser._actions if not action.help] == []
    parser.format_help()


@pytest.fixture
def load(forks, tmp_path):
    """scripts/load.py in a fork; what it measures are processes of their own."""
    fixed = ("--folder", tmp_path / "work", "--output", tmp_path)
    return partial(forks.run, "python-script", ROOT / "scripts" / "load.py", *fixed)


def test_load_measures_what_is_missing(load, tmp_path):
    run = partial(load, "--scale", "0.0005")

    done = run("vectors", "neighbours", "transfer", "words")
    assert done.returncode == 0, done.stderr[-2000:]
    rows = {row["name"]: row for row in map(json.loads, (tmp_path / "load.jsonl").read_text().splitlines())}
    tables = {f"vectors, {kind}{end}" for kind in ("text", "array") for end in ("", ", chosen")}
    indexed = {f"{what}, {kind}" for what, kind in (("neighbours", "hnsw"), ("neighbours", "ivf"), ("words", "ivf"))}
    assert set(rows) == {*tables, *indexed, "neighbours", "transfer", "words, dense"}
    assert all(row["seconds"] > 0 and row["peak_mib"] > 10 for row in rows.values())
    assert rows["vectors, text"]["words"] == 1000
    assert rows["transfer"]["sentences"] == 5000
    assert rows["words, ivf"]["words"] == 500
    graph = rows["neighbours, hnsw"]
    assert graph["accuracy_1_5"] == pytest.approx(graph["exact_accuracy_1_5"], abs=0.02)
    assert 0.5 < rows["neighbours, ivf"]["accuracy_1_5"][0] < 1
    assert "written: match, label 1" in done.stderr
    before = (tmp_path / "load.jsonl").read_bytes()
    assert run("transfer").stdout == "transfer: measured before\n"
    assert (tmp_path / "load.jsonl").read_bytes() == before
    assert "needs --encoder and --text" in run("sentences").stderr
    assert "line needs --model" in run("line").stderr


def test_load_finds_negatives(load, tmp_path):
    text, vectors = tmp_path / "english", tmp_path / "english.vec"
    words = [f"word{n}" for n in range(40)]
    draw = random.Random(1)
    text.write_text("".join(" ".join(draw.sample(words, 6)) + "\n" for _ in range(4000)))
    rows = (f"{word} " + " ".join(f"{draw.gauss(0.5, 1):.3f}" for _ in range(16)) for word in words)
    vectors.write_text(f"{len(words)} 16\n" + "".join(f"{row}\n" for row in rows))

    run = partial(load, "negatives")
    done = run("--scale", "0.008", "--text", str(text), "--embeddings", str(vectors))
    assert done.returncode == 0, done.stderr[-2000:]
    (row,) = map(json.loads, (tmp_path / "load.jsonl").read_text().splitlines())
    assert (row["name"], row["sentences"]) == ("negatives", 3200)
    assert "pages 80, pairs in 3200" in done.stderr
    assert "needs --embeddings and --text" in run("--scale", "0.008").stderr
    said = run("--scale", "0.02", "--text", str(text), "--embeddings", str(vectors)).stderr
    assert "4000 different lines of four words or more, 8000 are wanted" in said
