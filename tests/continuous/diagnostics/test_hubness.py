"""k-occurrences against a loop, and what they say of hubs that were made."""

import pytest
import torch
import torch.nn.functional as F

from fairseq_xl.continuous.diagnostics.hubness import Occurrences, of_table, of_targets
from fairseq_xl.losses import nearest

from .conftest import target_table


def neighbours(query, table, k, itself=None):
    ranked = sorted(
        (w for w in range(2, len(table)) if w != itself), key=lambda w: -float(query.double() @ table[w].double())
    )
    return ranked[:k]


def test_counts_and_skewness_are_those_of_a_loop():
    targets = target_table(60)
    queries = torch.randn(200, 6, generator=torch.Generator().manual_seed(1))
    found = Occurrences(targets.candidates(), 60)
    for part in queries.split(33):
        found.update(nearest(part, targets, 4)[1])
    counts = [0] * 60
    for query in queries:
        for word in neighbours(query, targets.table, 4):
            counts[word] += 1
    assert found.counts.tolist() == counts
    words = counts[2:]
    mean = sum(words) / 58
    second = sum((n - mean) ** 2 for n in words) / 58
    third = sum((n - mean) ** 3 for n in words) / 58
    assert found.skewness() == pytest.approx(third / second**1.5)
    result = found.result([f"w{i}" for i in range(60)], most=3)
    assert result["queries"] == 200
    assert result["words"] == 58
    assert result["never"] == words.count(0) / 58
    assert [n for _, n in result["hubs"]] == sorted(words, reverse=True)[:3]
    assert all(counts[int(word[1:])] == n for word, n in result["hubs"])


def test_a_word_amid_the_queries_is_a_hub():
    targets = target_table(200, dim=20)
    queries = torch.randn(300, 20, generator=torch.Generator().manual_seed(2))
    with_hub = target_table(200, dim=20)
    queries[:, 0] += 4
    with_hub.table[77] = F.normalize(queries.mean(0), dim=0)
    even, uneven = (Occurrences(t.candidates(), 200) for t in (targets, with_hub))
    even.update(nearest(queries - torch.eye(20)[0] * 4, targets, 5)[1])
    uneven.update(nearest(queries, with_hub, 5)[1])
    assert uneven.result(["?"] * 77 + ["hub"] + ["?"] * 122)["hubs"][0][0] == "hub"
    assert uneven.skewness() > 2 * even.skewness()


def test_targets_count_as_often_as_they_occur():
    targets = target_table(30)
    times = torch.zeros(30, dtype=torch.long)
    times[[3, 9, 1]] = torch.tensor([4, 1, 2])  # row 1 is no word, yet can be a target
    found = of_targets(targets, times, 3)
    counts = [0] * 30
    for row, n in ((3, 4), (9, 1), (1, 2)):
        for word in neighbours(targets.table[row], targets.table, 3):
            counts[word] += n
    assert found.counts.tolist() == counts
    assert found.queries == 7
    assert counts[3] >= 4  # its own nearest word


def test_no_word_of_the_table_is_its_own_neighbour():
    targets = target_table(40)
    targets.table[7] = targets.table[8] = targets.table[9]  # the first among equals is not the word itself
    found = of_table(targets, 3)
    counts = [0] * 40
    for row in range(2, 40):
        for word in neighbours(targets.table[row], targets.table, 3, itself=row):
            counts[word] += 1
    assert found.queries == 38
    assert int(found.counts.sum()) == 38 * 3
    unequal = [w for w in range(40) if w not in (7, 8, 9)]
    assert [found.counts[w].item() for w in unequal] == [counts[w] for w in unequal]
    assert found.counts[7:10].sum().item() == sum(counts[7:10])


def test_words_that_occur_alike_have_no_skewness():
    found = Occurrences(torch.arange(2, 6), 6)
    found.update(torch.tensor([[2, 3], [4, 5]]))
    assert found.skewness() is None
