"""Label transfer against an oracle made of dictionaries, and the command around it."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import random
import tempfile
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairseq_xl.cli.main import main
from fairseq_xl.pairs.augmentation.key import hashed, normal_form
from fairseq_xl.pairs.augmentation.label_transfer import LabelledPair, LabelTransfer, Settings, label_transfer


def key(translation: str) -> int | None:
    """A stand-in: the first letter."""
    return ord(translation[0]) if translation[0].isalpha() else None


def transfer(
    sentences, labelled=(), excluded=(), chosen: Settings | None = None
) -> tuple[list[LabelledPair], dict[str, int]]:
    with (
        tempfile.TemporaryDirectory() as folder,
        label_transfer(Path(folder) / "x", key, chosen or Settings()) as work,
    ):
        work.read_sentences(sentences)
        work.read_labelled(labelled)
        work.exclude(excluded)
        return list(work.pairs()), work.counts


@pytest.fixture(scope="module")
def transferred():
    """What :func:`transfer` gives, in databases of one connection: a file for each would take twice as long."""
    import duckdb

    numbers = itertools.count()
    with duckdb.connect(config={"threads": 4, "preserve_insertion_order": False}) as connection:

        def run(sentences, labelled, excluded, chosen: Settings) -> list[LabelledPair]:
            name = f"database{next(numbers)}"
            connection.execute(f"ATTACH ':memory:' AS {name}; USE {name}")
            work = LabelTransfer(connection, key, chosen)
            work.read_sentences(sentences)
            work.read_labelled(labelled)
            work.exclude(excluded)
            found = list(work.pairs())
            connection.execute(f"USE memory; DETACH {name}")
            return found

        yield run


def lot(*numbers: int) -> int:
    digest = hashlib.md5(" ".join(map(str, numbers)).encode()).digest()
    return int.from_bytes(digest[8:], "little")


def oracle(sentences, labelled, excluded, chosen: Settings) -> list[LabelledPair]:
    """What label transfer should give, with everything in memory and nothing clever."""

    def known(text: str) -> int:
        return hashed(normal_form(text), chosen.seed)

    out = {frozenset(map(known, pair)) for pair in excluded}
    barred = set().union(*out) if chosen.exclude_sentences else set()
    lines, groups = {}, defaultdict(set)
    for text, translation in sentences:
        if normal_form(text) and key(translation) is not None:
            lines[known(text)] = min(lines.get(known(text), ("\U0010ffff",)), (text, translation))
            if known(text) not in barred:
                groups[key(translation)].add(known(text))
    group = {name: sorted(members) for name, members in groups.items()}
    votes = defaultdict(lambda: [0, 0, False])  # no, yes, matched

    def vote(one: int, other: int, claims: list[int], matched: bool) -> None:
        if one == other:
            members = group[one]
            every = [
                (members[i], members[i + step]) for step in range(1, len(members)) for i in range(len(members) - step)
            ][: chosen.per_key]
        else:
            long, short = group[one], group[other]
            if len(long) < len(short):
                long, short = short, long
            every = [(long[i], short[(i + step) % len(short)]) for step in range(len(short)) for i in range(len(long))][
                : chosen.per_pair
            ]
        for pair in every:
            if pair[0] != pair[1]:
                found = votes[tuple(sorted(pair))]
                found[0] += claims[0]
                found[1] += claims[1]
                found[2] |= matched

    for name in group:
        vote(name, name, [0, 1], True)
    claims = defaultdict(lambda: [0, 0])
    seen = set()
    for left, right, label in labelled:
        keys = key(left), key(right)
        if None not in keys and set(keys) <= group.keys():
            (one, first), (other, second) = sorted(zip(keys, map(known, (left, right)), strict=True))
            if (first, second, label, one, other) not in seen:
                seen.add((first, second, label, one, other))
                claims[one, other][label] += 1
    for (one, other), counts in claims.items():
        vote(one, other, counts, False)
    chosen_pairs = []
    for pair, (no, yes, matched) in votes.items():
        conflict = no > 0 and yes > 0
        if frozenset(pair) in out or (conflict and (chosen.conflicts == "drop" or no == yes)):
            continue
        label = int(yes > no)
        one, other = sorted(pair)
        chosen_pairs.append((lot(chosen.seed, one, other), (one, other), label, matched and label))
    chosen_pairs.sort()
    if chosen.balance:
        by_label = [[p for p in chosen_pairs if p[2] == label] for label in (0, 1)]
        chosen_pairs = sorted(itertools.chain(*(found[: min(map(len, by_label))] for found in by_label)))
    written = []
    for drawn, (one, other), label, matched in chosen_pairs:
        left, right = lines[one], lines[other]
        if drawn % 2:
            left, right = right, left
        origin = "match" if matched else "transferred"
        written.append(LabelledPair(left[0], right[0], label, left[1], right[1], origin))
    return written


TEXTS = st.sampled_from(["uno", "Uno!", "dos", "tres", "cuatro", "cinco", "seis", "siete", "¿?"])
ENGLISH = st.sampled_from(["a x", "a y", "A", "b x", "b y", "c", "d", "-"])
SENTENCES = st.lists(st.tuples(TEXTS, ENGLISH), max_size=25)
LABELLED = st.lists(st.tuples(ENGLISH, ENGLISH, st.integers(0, 1)), max_size=12)
EXCLUDED = st.lists(st.tuples(TEXTS, TEXTS), max_size=4)
SETTINGS = st.builds(
    Settings,
    per_key=st.integers(1, 12),
    per_pair=st.integers(1, 12),
    conflicts=st.sampled_from(["drop", "majority"]),
    balance=st.booleans(),
    exclude_sentences=st.booleans(),
    seed=st.integers(0, 3),
)


@settings(max_examples=150)
@given(SENTENCES, LABELLED, EXCLUDED, SETTINGS, st.randoms(use_true_random=False), st.integers(0, 3))
def test_against_the_oracle(transferred, sentences, labelled, excluded, chosen, lots: random.Random, turn):
    found = transferred(sentences, labelled, excluded, chosen)
    assert found == oracle(sentences, labelled, excluded, chosen)
    pairs = [frozenset(map(normal_form, (pair.left, pair.right))) for pair in found]
    assert len(set(pairs)) == len(pairs), "a pair twice"
    assert all(len(pair) == 2 for pair in pairs), "a sentence with itself"
    out = {frozenset(map(normal_form, pair)) for pair in excluded}
    assert not out & set(pairs)
    if chosen.exclude_sentences:
        assert not set().union(*out) & set().union(*pairs)
    if turn == 0 and len(sentences) > 2:  # some 40 examples: in another order the same is made
        shuffled = [lots.sample(rows, len(rows)) for rows in (sentences, labelled, excluded)]
        turned = [[(b, a, label) for a, b, label in shuffled[1]], [(b, a) for a, b in shuffled[2]]]
        assert transferred(shuffled[0], *turned, chosen) == found


def numbered(keys: str, each: int) -> list[tuple[str, str]]:
    return [(f"{name} {number}", name) for name in keys for number in range(each)]


def test_a_limit_uses_the_sentences_of_a_key_alike():
    assert len(transfer(numbered("a", 10), chosen=Settings(per_key=20))[0]) == 20, "a limit within the third step"
    found, counts = transfer(numbered("a", 100), chosen=Settings(per_key=99))
    used = [text for pair in found for text in (pair.left, pair.right)]
    assert len(found) == 99
    assert set(used) == {f"a {number}" for number in range(100)}
    assert max(map(used.count, used)) == 2
    assert counts["keys of several sentences"] == 1


def test_a_limit_uses_the_sentences_of_two_keys_alike():
    sentences = [*numbered("a", 50), *numbered("b", 10)]
    labelled = [("a", "b", 0)]
    found, _ = transfer(sentences, labelled, chosen=Settings(per_key=1, per_pair=100))
    used = [text for pair in found if pair.label == 0 for text in (pair.left, pair.right)]
    assert {used.count(f"a {number}") for number in range(50)} == {2}
    assert {used.count(f"b {number}") for number in range(10)} == {10}


def test_another_seed_draws_other_pairs():
    draws = [
        {frozenset((pair.left, pair.right)) for pair in transfer(numbered("a", 60), chosen=Settings(seed=seed))[0]}
        for seed in (1, 2)
    ]
    assert len(draws[0] & draws[1]) < 10


def test_conflicts_are_counted_and_resolved():
    sentences = [("uno", "a"), ("dos", "b"), ("tres", "a")]
    labelled = [("a", "b", 1), ("a x", "b", 1), ("a y", "b", 0), ("a", "a z", 0)]
    found, counts = transfer(sentences, labelled)
    assert (found, counts["pairs with both labels"], counts["pairs with both labels, dropped"]) == ([], 3, 3)
    found, counts = transfer(sentences, labelled, chosen=Settings(conflicts="majority"))
    # tres and uno match by their key and do not by a labelled pair: a tie
    assert {(frozenset((p.left, p.right)), p.label, p.origin) for p in found} == {
        (frozenset(("uno", "dos")), 1, "transferred"),
        (frozenset(("tres", "dos")), 1, "transferred"),
    }
    assert counts["pairs with both labels, dropped"] == 1


# ---------------------------------------------------------------- the command


@pytest.fixture
def files(tmp_path):
    (tmp_path / "english.tsv").write_text(
        "open a dispute\tabrir\tcancel the order\tcancelar\t0\n"
        "where is my parcel\tdonde\tWhere are the parcels?\tdonde\t1\n",
        encoding="utf-8",
    )
    (tmp_path / "spanish.tsv").write_text(
        "es\ten\nabrir disputa\tI will open the dispute\nabrir una disputa\topen disputes, dispute\n"
        "quiero abrir disputa\tI'd open my dispute\ncancelar\tcancel orders? order\ncancelar pedido\tcancel order\n",
        encoding="utf-8",
    )
    return tmp_path


def run(folder: Path, *options: str) -> int:
    return main(
        [
            *("match", "transfer-labels", "--labelled", f"{folder}/english.tsv,left=1,right=3,label=5"),
            *("--sentences", f"{folder}/spanish.tsv,text=es,translation=en"),
            *("-o", str(folder / "out" / "transferred.tsv"), *options),
        ]
    )


def written(folder: Path) -> set[tuple]:
    names, *rows = (folder / "out" / "transferred.tsv").read_text(encoding="utf-8").splitlines()
    assert names == "left\tright\tlabel\tleft_translation\tright_translation\torigin"
    cells = [row.split("\t") for row in rows]
    return {(frozenset((left, right)), label, origin) for left, right, label, _, _, origin in cells}


def test_command(files, capsys):
    assert run(files) == 0
    assert written(files) == {
        (frozenset(("abrir disputa", "quiero abrir disputa")), "1", "match"),
        (frozenset(("abrir disputa", "cancelar pedido")), "0", "transferred"),
        (frozenset(("quiero abrir disputa", "cancelar pedido")), "0", "transferred"),
    }
    assert sorted(path.name for path in (files / "out").iterdir()) == ["transferred.tsv", "transferred.tsv.json"]
    summary = json.loads((files / "out" / "transferred.tsv.json").read_text(encoding="utf-8"))
    assert summary["counts"]["written: transferred, label 0"] == 2
    assert summary["settings"]["seed"] == 1
    assert "2 written: transferred, label 0" in capsys.readouterr().err
    first = (files / "out" / "transferred.tsv").read_bytes()
    assert run(files) == 0
    assert (files / "out" / "transferred.tsv").read_bytes() == first


def test_a_pipe_gets_the_pairs_alone(files):
    (files / "out").mkdir()
    pipe = files / "out" / "transferred.tsv"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert run(files) == 0
    assert os.read(reading, 1 << 16).startswith(b"left\tright\tlabel\t")
    os.close(reading)
    assert [path.name for path in (files / "out").iterdir()] == ["transferred.tsv"]


def test_what_a_killed_run_left_goes_and_a_folder_of_others_stays(files):
    (files / "out" / ".transferred.tsv.0123456789ab.tmp" / "database").mkdir(parents=True)
    (files / "out" / ".transferred.tsv.duckdb").mkdir()
    assert run(files) == 0
    names = {path.name for path in (files / "out").iterdir()}
    assert names == {".transferred.tsv.duckdb", "transferred.tsv", "transferred.tsv.json"}


def test_command_with_pairs_and_exclusions(files):
    (files / "pairs.tsv").write_text("cancelo\tI cancel an order\tabro\tI open a dispute\tx\n", encoding="utf-8")
    (files / "test.tsv").write_text("Cancelar  pedido!\tAbrir disputa\n", encoding="utf-8")
    options = [
        *("--from-pairs", f"{files}/pairs.tsv,left=1,right=3,left_translation=2,right_translation=4"),
        *("--exclude", f"{files}/test.tsv", "--balance"),
    ]
    assert run(files, *options[:-1]) == 0
    pairs = {pair for pair, _, _ in written(files)}
    assert frozenset(("abrir disputa", "cancelo")) in pairs
    assert frozenset(("abrir disputa", "cancelar pedido")) not in pairs
    assert run(files, *options) == 0
    labels = [label for _, label, _ in written(files)]
    assert labels.count("0") == labels.count("1") > 0
    assert run(files, *options[:-1], "--exclude-sentences") == 0
    assert written(files) == {
        (frozenset(("abro", "quiero abrir disputa")), "1", "match"),
        (frozenset(("abro", "cancelo")), "0", "transferred"),
        (frozenset(("quiero abrir disputa", "cancelo")), "0", "transferred"),
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--per-key", "0"], "--per-key is 0: give a number from 1"),
        (["--per-pair", "-1"], "--per-pair is -1"),
        (["--seed", "-1"], "--seed is -1"),
        (["--labelled", "{}/english.tsv,label=none"], "--labelled needs labels"),
        (["--from-pairs", "{}/english.tsv,left=1"], "--from-pairs needs translations"),
        (["--sentences", "{}/spanish.tsv,text=de"], "there is no column 'de'"),
        (["--sentences", "{}/empty.tsv"], "empty.tsv, line 2: the translation is empty"),
        (["--stop-words", "{}/none.txt"], "there is no file"),
        (["-o", "."], "cannot write .: it is a directory"),
        (["-o", ""], "cannot write .: it is a directory"),
    ],
)
def test_mistakes_leave_nothing_behind(files, capsys, options, message):
    (files / "empty.tsv").write_text("uno\tone\ndos\t \n", encoding="utf-8")
    assert run(files, *(option.format(files) for option in options)) == 2
    assert message in capsys.readouterr().err
    assert not (files / "out").exists() or not list((files / "out").iterdir())


def test_nothing_to_make_pairs_of(tmp_path, capsys):
    assert main(["match", "transfer-labels", "-o", str(tmp_path / "x.tsv")]) == 2
    assert "there are no sentences" in capsys.readouterr().err


def test_a_labelled_pair_that_stands_there_twice_has_one_vote():
    labelled = [("a", "b", 1), ("a", "b", 1), ("b", "a", 1), ("a x", "b", 0), ("a y", "b", 0)]
    found, _ = transfer([("uno", "a"), ("dos", "b")], labelled, chosen=Settings(conflicts="majority"))
    assert [pair.label for pair in found] == [0]
