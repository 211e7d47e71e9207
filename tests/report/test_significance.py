"""Tests of differences: found where there are some, not where there are none."""

import json
import math
import statistics

import pytest
import scipy.stats
from sacrebleu.metrics import BLEU, CHRF

from fairseq_xl.io.errors import InputError
from fairseq_xl.report import significance
from fairseq_xl.report.significance import KeptTests, difference_interval, seeds_differ, sentences_differ


@pytest.mark.parametrize("method", ["ar", "bs"])
def test_sentences(make_run, method):
    references, spoilt = make_run.references, make_run.spoilt
    good, bad, alike = (spoilt(references, share, seed) for seed, share in enumerate((0.1, 0.6, 0.1), start=1))
    assert sentences_differ(bad, good, references, method=method, samples=200) < 0.02
    assert sentences_differ(good, alike, references, method=method, samples=200) > 0.05
    assert sentences_differ(good, good, references, method=method, samples=200) == 1
    assert sentences_differ(bad, good, references, "chrF2", method, samples=200) < 0.02


@pytest.mark.parametrize("method", ["ar", "bs"])
def test_equal_scores_are_no_difference(make_run, method):
    system = [*make_run.references]
    one, two = ([f"{word} {system[0]}", *system[1:]] for word in ("xx", "yy"))
    assert one != two
    assert sentences_differ(one, two, system, method=method, samples=200) == 1


@pytest.mark.parametrize(("better", "least"), [(1, 1.0), (4, 2 / 2**4)])
def test_a_handful_of_sentences_proves_no_more_than_their_swaps_can(make_run, better, least):
    """Of the 2^n outcomes of n swaps two are as extreme as what is seen where all n go one way."""
    references = make_run.references
    system = [f"xx {line}" if place < better else line for place, line in enumerate(references)]
    assert sentences_differ(system, references, references, samples=500) >= least


def test_text_without_spaces_needs_the_scores_own_tokeniser():
    references = [f"这是第{n}个句子。" for n in "一二三四五六七八九十"]
    wrong = ["好的。"] * 10
    texts = [f"{line[:-1]}啊。" for line in references]
    assert sentences_differ(wrong, texts, references, samples=200) == 1, "no word of 13a is right"
    assert sentences_differ(wrong, texts, references, samples=200, tokenize="zh") < 0.05


def test_unequal_numbers():
    with pytest.raises(ValueError, match="unequal"):
        sentences_differ(["a", "b"], ["a"], ["a", "b"])


def test_seeds():
    """Welch's t-test, written out: t = Δ/√(s₁²/n₁ + s₂²/n₂), degrees of freedom by Welch and Satterthwaite."""
    one, two = [36.0, 36.3, 36.2], [37.9, 38.1, 38.3]
    errors = [statistics.variance(values) / 3 for values in (one, two)]
    t = (statistics.mean(two) - statistics.mean(one)) / math.sqrt(sum(errors))
    freedom = sum(errors) ** 2 / sum(error**2 / 2 for error in errors)
    assert seeds_differ(one, two) == pytest.approx(2 * scipy.stats.t.sf(t, freedom))
    assert seeds_differ(one, two) < 0.001
    assert seeds_differ([36.0, 38.0, 37.0], [36.1, 37.9, 37.2]) > 0.5
    assert seeds_differ([36.0], [37.0, 38.0]) is None
    assert seeds_differ([36.0, 36.0], [36.0, 36.0]) == 1
    assert seeds_differ([36.0, 36.0], [37.0, 37.0]) == 0


@pytest.mark.parametrize("metric", ["BLEU", "chrF2"])
def test_an_interval_over_sentences_and_runs(make_run, metric):
    references, spoilt = make_run.references, make_run.spoilt
    bad, good = ([spoilt(references, share, seed) for seed in (1, 2, 3)] for share in (0.6, 0.1))
    ours = (BLEU if metric == "BLEU" else CHRF)(references=[references])
    means = [statistics.mean(ours.corpus_score(run, None).score for run in runs) for runs in (bad, good)]
    low, high = difference_interval(bad, good, references, metric, samples=200)
    assert 0 < low < means[1] - means[0] < high
    assert difference_interval(bad[:1], bad[:1], references, metric, samples=200) == (0, 0)
    less, more = difference_interval([bad[0], good[0]], bad[:2], references, metric, samples=200)
    assert less < 0 < more, "one run of two is no better"
    with pytest.raises(ValueError, match="unequal"):
        difference_interval(bad, [good[0][:-1]], references, metric)


def test_kept_tests_are_not_computed_again(tmp_path, monkeypatch):
    calls = []

    def sentences_differ(*arguments):
        calls.append(arguments)
        return 0.25

    monkeypatch.setattr(significance, "sentences_differ", sentences_differ)
    path = tmp_path / "tests.json"
    assert KeptTests(path).sentences_differ(["a"], ["b"], ["c"]) == 0.25
    assert KeptTests(path).sentences_differ(["a"], ["b"], ["c"]) == 0.25
    assert KeptTests(path).sentences_differ(["a"], ["b"], ["d"]) == 0.25
    assert len(calls) == 2
    assert len(json.loads(path.read_text())) == 2
    monkeypatch.setattr(significance, "SCHEME", significance.SCHEME + 1)
    assert KeptTests(path).sentences_differ(["a"], ["b"], ["c"]) == 0.25
    assert len(calls) == 3, "what another version computed does not count"
    path.write_text("[")
    with pytest.raises(InputError, match="is no file of kept tests"):
        KeptTests(path)


def test_one_run_each_spreads_over_sentences(make_run):
    references, spoilt = make_run.references, make_run.spoilt
    bad, good = ([spoilt(references, share, 1)] for share in (0.6, 0.1))
    low, high = difference_interval(bad, good, references, samples=200)
    assert low < high


def test_an_interval_takes_the_tokeniser_of_the_scores():
    references = [f"这是第{n}个句子。" for n in "一二三四五六七八九十"]
    wrong, nearly = ["好的。"] * 10, [f"{line[:-1]}啊。" for line in references]
    assert difference_interval([wrong], [nearly], references, samples=50) == (0, 0)
    assert difference_interval([wrong], [nearly], references, samples=50, tokenize="zh")[0] > 0


def test_another_sacrebleu_tests_anew(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(significance, "sentences_differ", lambda *given: calls.append(given) or 0.25)
    for version in ("1.0", "2.0", "2.0"):
        monkeypatch.setattr(significance.sacrebleu, "__version__", version)
        KeptTests(tmp_path / "tests.json").sentences_differ(["a"], ["b"], ["c"])
    assert len(calls) == 2
