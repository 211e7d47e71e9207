"""The audit of the keys and of the pair classifiers beside them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.cli.main import main
from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.augmentation import audit as module
from fairseq_xl.pairs.augmentation.audit import audit, classified, same, splits
from fairseq_xl.pairs.augmentation.key import EnglishKey, normal_form
from fairseq_xl.pairs.data.source import Pair

KEY = EnglishKey.of_file()
PAIRS = [
    Pair("open a dispute", "I'll open the dispute", 1, None, "x, line 1"),
    Pair("Open, dispute!", "open dispute", 1, None, "x, line 2"),
    Pair("question and answer", "did you answer my question?", 0, None, "x, line 3"),
    Pair("who are you", "Who ARE you?", 1, None, "x, line 4"),
    Pair("how is it", "is it how", 0, None, "x, line 5"),
    Pair("cancel an order", "open a dispute", 0, None, "x, line 6"),
]


def test_methods():
    assert same(PAIRS, KEY).tolist() == [True, True, True, False, False, False]
    assert same(PAIRS, normal_form).tolist() == [False, True, False, True, False, False]


def test_table(monkeypatch):
    monkeypatch.setattr(module, "classified", lambda pairs, seed: np.zeros(len(pairs), dtype=bool))
    table, found = audit(PAIRS, KEY)
    assert table.title == "3 matching pairs of 6"
    assert table.rows == [
        ["equal keys", "2", "66.67%", "1", "66.67%"],
        ["exact match", "2", "66.67%", "0", "100.00%"],
        ["classifier", "0", "0.00%", "0", "–"],
    ]
    assert list(found) == ["equal keys", "exact match", "classifier"]


def test_pairs_of_one_label_are_no_audit():
    with pytest.raises(InputError, match="needs matching pairs and others"):
        audit(PAIRS[:2], KEY)


def made_up(count: int, seed: int = 0) -> list[Pair]:
    """Matching pairs share three words of five, others none."""
    lots = np.random.default_rng(seed)
    pairs = []
    for number in range(count):
        words = [f"w{lots.integers(40)}" for _ in range(5)]
        other = words[:3] if number % 2 else [f"v{lots.integers(40)}" for _ in range(3)]
        pairs.append(Pair(" ".join(words), " ".join([*other, "x"]), number % 2, None, str(number)))
    return pairs


def test_the_classifier_learns():
    pytest.importorskip("sklearn")
    pairs = made_up(200)
    labels = np.array([pair.label for pair in pairs])
    found = classified(pairs)
    assert (found == labels).mean() > 0.95
    assert np.array_equal(found, classified(pairs))


@given(st.integers(2, 6), st.integers(0, 9), st.data())
def test_no_pair_is_judged_by_who_has_seen_its_questions(folds, seed, data):
    pair = st.tuples(st.integers(0, 30), st.integers(0, 30))
    rows = np.array(data.draw(st.lists(pair, min_size=1, max_size=60))).T
    times_judged = np.zeros(rows.shape[1], dtype=int)
    for judged, trained, known in splits(rows, folds, seed):
        times_judged += judged
        assert not set(rows[:, judged].ravel()) & set(rows[:, trained].ravel())
        assert known[rows[:, trained]].all()
        assert not known[rows[:, judged]].any()
    assert (times_judged == 1).all()


def test_too_few_questions():
    pytest.importorskip("sklearn")
    with pytest.raises(InputError, match="questions are too few"):
        classified(PAIRS[:3])


def test_command(tmp_path, capsys):
    pytest.importorskip("sklearn")
    path = tmp_path / "x.tsv"
    rows = [*PAIRS, *made_up(100)]
    path.write_text("".join(f"{p.left}\t{p.right}\t{p.label}\n" for p in rows), encoding="utf-8")
    assert main(["match", "audit", str(path), "--show", "1"]) == 0
    shown = capsys.readouterr().out
    assert "### 53 matching pairs of 106" in shown
    assert f"equal keys, wrongly found:\n{path}, line 3\tquestion and answer\t" in shown
    assert main(["match", "audit", f"{path},label=none"]) == 2
    assert "no labelled pairs" in capsys.readouterr().err


def test_the_papers_audit(data_dir):
    """404 of 4,887 recovered (8.3 %), 97.8 % of them rightly: today's file has 5,094 matching pairs."""
    from fairseq_xl.pairs.data.source import PairSource

    source = f"{data_dir}/pairs/cikm2018/cikm_english_train.txt,left=1,right=3,label=5"
    pairs = list(PairSource.parse(source).pairs())
    labels = np.array([pair.label for pair in pairs])
    found = same(pairs, KEY)
    assert labels[found].sum() / labels.sum() > 0.08
    assert labels[found].mean() > 0.97
