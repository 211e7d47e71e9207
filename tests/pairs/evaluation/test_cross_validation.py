"""Accuracy over folds and votes of their models, counted by hand."""

from __future__ import annotations

from dataclasses import replace

import markdown_tables
import pytest

from fairseq_xl.cli.main import main
from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.evaluation.cross_validation import table
from fairseq_xl.pairs.evaluation.record import PairRecord


def record(name: str, split: str, seed: int, gold, probability) -> PairRecord:
    ids = [f"{split}:{i}" for i in range(len(probability))]
    return PairRecord(name, split, seed, ids, gold, probability, list(range(len(probability))))


FOLDS = [
    record("a", "fold 0", 1, [1, 0, 1, 0], [0.9, 0.2, 0.4, 0.1]),  # 3 of 4
    record("a", "fold 1", 1, [1, 0], [0.5, 0.49]),  # 2 of 2
    record("b", "fold 0", 1, [1, 0, 1, 0], [0.1, 0.9, 0.9, 0.1]),  # 2 of 4
]
GOLD = [1, 1, 0, 0]
# The folds' models have one seed, as the recipe trains them.
TEST = [
    record("a", "test", 1, GOLD, [0.6, 0.1, 0.2, 0.6]),  # 2 of 4
    record("a", "test", 1, GOLD, [0.7, 0.6, 0.1, 0.6]),  # 3 of 4
    record("a", "test", 1, GOLD, [0.1, 0.6, 0.9, 0.1]),  # 2 of 4
    record("b", "test", 1, GOLD, [0.9, 0.9, 0.1, 0.1]),
]


def test_means_and_votes():
    """a: 5 of 6 in its folds; votes are 1 1 0 1, the means 0.47 0.43 0.4 0.43."""
    rows = markdown_tables.by_name(table(FOLDS, TEST).markdown())
    assert rows["a"] == ["2", "87.50 ± 17.68", "83.33", "58.33 ± 14.43", "–", "75.00", "50.00"]  # 3 models, 2 folds
    assert rows["b"] == ["1", "50.00", "50.00", "100.00", "100.00", "100.00", "100.00"]
    best = markdown_tables.rows(table([FOLDS[1], FOLDS[0]], TEST[:2]).markdown())[-1][5]
    assert best == "50.00", "the model of the fold with 2 of 2, which is the first"
    best = markdown_tables.rows(table(FOLDS[:2], TEST[:2]).markdown())[-1][5]
    assert best == "75.00"


def test_seeds_of_a_fold_count_as_one_difference():
    """Differences of 1/2 and 0 in fold 0, and of 1/2 and 1/2 in fold 1: means 1/4 and 1/2, t = 3, one degree."""
    records = [
        record(name, f"fold {fold}", seed, [1, 1, 1, 1], [0.9] * right + [0.1] * (4 - right))
        for name, rights in (("scratch", (1, 2, 1, 1)), ("transfer", (3, 2, 3, 3)))
        for (fold, seed), right in zip(((0, 1), (0, 2), (1, 1), (1, 2)), rights, strict=True)
    ]
    assert markdown_tables.rows(table(records, [], "scratch").markdown())[-1][-2:] == ["+37.50", "0.205"]


def test_folds_of_other_seeds_are_compared_and_those_that_one_lacks_are_told():
    """A baseline has one seed for all folds. Differences are 1/4 and 1/2, so t = 3 with one degree."""

    def of(name: str, *places: tuple[int, int, int]) -> list[PairRecord]:
        return [
            record(name, f"fold {fold}", seed, [1, 1, 1, 1], [0.9] * right + [0.1] * (4 - right))
            for fold, seed, right in places
        ]

    baseline = of("baseline", (0, 1, 2), (1, 1, 1))
    whole = of("classifier", (0, 1, 3), (1, 2, 3))
    assert markdown_tables.rows(table([*baseline, *whole], [], "baseline").markdown())[-1][-2:] == ["+37.50", "0.205"]
    more = [*whole, *of("classifier", (2, 3, 4))]
    found = markdown_tables.rows(table([*baseline, *more], [], "baseline").markdown())[-1][-2:]
    assert found == ["+37.50 (2 folds)", "0.205"]
    one = markdown_tables.rows(table([*baseline[:1], *whole], [], "baseline").markdown())[-1][-2:]
    assert one == ["+25.00 (fold 0)", "–"]
    assert markdown_tables.rows(table([*baseline[1:], *whole[1:]], [], "baseline").markdown())[-1][-2:] == ["–", "–"]


def test_a_difference_over_seeds():
    records = [
        record(name, "test", seed, [1, 1, 1, 1], [0.9] * right + [0.1] * (4 - right))
        for name, rights in (("scratch", (2, 2, 3)), ("transfer", (3, 4, 4)))
        for seed, right in enumerate(rights, start=1)
    ]
    cells = markdown_tables.rows(table(records, [], "scratch").markdown())
    # Differences of 1, 2 and 1 of four: mean 1/3, standard error 1/12, t = 4 with two degrees of freedom.
    assert [row[-2:] for row in cells if row[0] in ("scratch", "transfer")] == [["–", "–"], ["+33.33", "0.057"]]
    with pytest.raises(InputError, match="--against 'x' is none of scratch, transfer"):
        table(records, [], "x")


def test_the_command(tmp_path, capsys):
    paths = []
    for number, one in enumerate(FOLDS):
        paths.append(tmp_path / f"{number}.json")
        one.write(paths[-1])
    assert main(["match", "folds", *map(str, paths)]) == 0
    said = capsys.readouterr().out
    assert "87.50 ± 17.68" in said
    assert main(["match", "folds", *map(str, paths), "-o", str(tmp_path / "t.md")]) == 0
    assert (tmp_path / "t.md").read_text() == said
    assert main(["match", "best", *map(str, paths)]) == 0
    assert capsys.readouterr().out == f"{paths[1]}\n"


def test_models_in_another_order_than_their_folds():
    models = [replace(model, about={"fold": fold}) for fold, model in enumerate(TEST[:2])]
    assert table(FOLDS[:2], models).rows == table(FOLDS[:2], TEST[:2]).rows
    with pytest.raises(InputError, match=r"another order than its folds: fold 1, fold 0"):
        table(FOLDS[:2], models[::-1])


def test_a_baseline_that_says_the_same_in_every_fold():
    same = [replace(record("a", "test", 1, GOLD, [0.5] * 4), about={"fold": fold}) for fold in (0, 1)]
    assert table(FOLDS[:2], same).rows
    with pytest.raises(InputError, match="two --test records of a say the same"):
        table(FOLDS[:2], [same[0], same[0]])


def test_records_that_do_not_fit():
    with pytest.raises(InputError, match="two records are of a on fold 0"):
        table([FOLDS[0], FOLDS[0]], [])
    with pytest.raises(InputError, match="two --test records of a say the same"):
        table(FOLDS, [*TEST, TEST[1]])
    with pytest.raises(InputError, match="no --test record is of b"):
        table(FOLDS, TEST[:3])
    with pytest.raises(InputError, match="has no labels"):
        table([record("a", "fold 0", 1, None, [0.1])], [])
