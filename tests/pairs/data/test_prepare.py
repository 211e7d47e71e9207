"""From files of pairs to a folder: words, what is left out, folds, dictionary and vectors."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fairseq_xl.cli.main import main
from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.data.directory import DataDirectory, Row
from fairseq_xl.pairs.data.prepare import _chains, prepare
from fairseq_xl.pairs.data.settings import Settings
from fairseq_xl.pairs.data.source import PairSource


def write(folder, name: str, *lines: str) -> str:
    path = folder / name
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return str(path)


def made(folder, *sources: str, **settings) -> DataDirectory:
    prepare(folder / "data", [PairSource.parse(s) for s in sources], [], Settings(**settings))
    return DataDirectory(folder / "data")


def test_words_are_as_the_paper_makes_them(tmp_path):
    train = write(tmp_path, "a.tsv", "¿Dónde está MI pedido, 3.50?\tNo lo sé...\t1", "a\tb\t0")
    row = made(tmp_path, train).rows("train")[0]
    assert (row.left, row.right) == ("dónde está mi pedido 3.50", "no lo sé")
    assert (row.left_text, row.right_text) == ("¿Dónde está MI pedido, 3.50?", "No lo sé...")
    assert row.id == "a.tsv:1"
    kept = made(tmp_path, train, keep_case=True, keep_punctuation=True, longest=3)
    assert kept.rows("train")[0].left == "¿ Dónde está"


def test_pairs_twice_and_with_both_labels(tmp_path):
    train = write(
        tmp_path, "a.tsv", "one x\ttwo x\t1", "Two x!\tone x\t1", "three\tfour\t0", "four\tthree\t1", "five\tsix\t0"
    )
    folder = made(tmp_path, train)
    assert [row.left for row in folder.rows("train")] == ["one x", "five"]
    assert folder.manifest["left_out"] == {"duplicate": 1, "contradictory": 2, "in the splits valid or test": 0}


@pytest.mark.parametrize(("leaks", "kept"), [("sentences", ["e"]), ("pairs", ["a", "e"]), ("nothing", ["a", "c", "e"])])
def test_training_knows_nothing_of_what_is_judged(tmp_path, leaks, kept):
    train = write(tmp_path, "a.tsv", "a\tb\t1", "c\td\t0", "e\tf\t0")
    valid = write(tmp_path, "v.tsv", "D?\tC\t0", "a\tx\t0")
    folder = made(tmp_path, train, f"{valid},split=valid", leaks=leaks)
    assert [row.left for row in folder.rows("train")] == kept
    assert len(folder.rows("valid")) == 2


def test_folds_that_a_file_gives(tmp_path):
    train = write(tmp_path, "a.tsv", "a\tb\t1\t2", "c\td\t0\t0", "e\tf\t0\t1")
    folder = made(tmp_path, f"{train},fold=4")
    assert folder.folds == 3
    assert [row.folds for row in folder.rows("train")] == [(2, 2), (0, 0), (1, 1)]
    assert made(tmp_path, f"{train},fold=4", folds=3).folds == 3
    with pytest.raises(InputError, match="--folds is 5, but the column of folds has 3: leave one of them out"):
        made(tmp_path, f"{train},fold=4", folds=5)
    other = write(tmp_path, "b.tsv", "g\th\t1")
    with pytest.raises(InputError, match="others have none"):
        made(tmp_path, f"{train},fold=4", other)
    bad = write(tmp_path, "c.tsv", "g\th\t1\tx")
    with pytest.raises(InputError, match=r"c.tsv, line 1: the fold is 'x'"):
        made(tmp_path, f"{bad},fold=4")


def test_words_of_two_languages_are_told_apart(tmp_path):
    train = write(tmp_path, "a.tsv", "the chat\tle chat\t1", "a day\tun jour\t0")
    vectors = write(tmp_path, "v.vec", "2 2", "en:chat 1 0", "fr:chat 0 1")
    folder = made(tmp_path, f"{train},languages=en+fr", vectors=tmp_path / "v.vec")
    row = folder.rows("train")[0]
    assert (row.left, row.right) == ("en:the en:chat", "fr:le fr:chat")
    assert row.left_text == "the chat"
    assert folder.manifest["languages"] == ["en", "fr"]
    table, index = folder.vectors(), folder.dictionary.index
    assert table[index("en:chat")].tolist() == [1, 0]
    assert table[index("fr:chat")].tolist() == [0, 1]
    assert vectors
    with pytest.raises(InputError, match="give languages= for all, or for none"):
        made(tmp_path, f"{train},languages=en+fr", f"{train},split=test")
    with pytest.raises(InputError, match=r"languages are two codes, such as en\+fr"):
        PairSource.parse("a.tsv,languages=en")


BILINGUAL = "left_translation=4,right_translation=5,translation_languages=en+en"


def bilingual(folder, count: int = 12) -> list[str]:
    """Spanish pairs with labels and their English translations: a source of each, the English for training alone."""
    lines = [f"uno {i}\tdos {i}\t{i % 2}\tone {i}\ttwo {i}" for i in range(count)]
    pairs = write(folder, "a.tsv", *lines)
    return [f"{pairs},languages=es+es,{BILINGUAL}", f"{pairs},left=4,right=5,languages=en+en,split=train_only"]


@pytest.mark.parametrize("together", ["components", "communities", "sentences"])
def test_a_translation_is_in_the_fold_of_its_sentence_and_never_judged(tmp_path, together):
    folder = made(tmp_path, *bilingual(tmp_path), folds=3, together=together)
    spanish, english = folder.rows("train"), folder.rows("train_only")
    assert [row.folds for row in spanish] == [row.folds for row in english]
    assert (english[0].id, english[0].left, english[0].label) == ("a.tsv#2:1", "en:one en:0", 0)
    assert folder.manifest["pairs"] == {"train": 12, "train_only": 12}
    for fold in range(3):
        judged, seen = folder.fold(fold, held_out=True), folder.fold(fold, held_out=False)
        assert judged
        assert all(row.left.startswith("es:") for row in judged)
        held = {row.left_text.split()[1] for row in judged}
        assert not held & {row.left_text.split()[1] for row in seen}
        assert {row.left.partition(":")[0] for row in seen} == {"es", "en"}
    assert folder.training() == spanish + english
    assert [row.group for row in spanish] == [row.group for row in english], "they are drawn together"


def test_sentences_with_one_translation_are_in_one_fold(tmp_path):
    lines = [f"{word} {i}\totro {word} {i}\t1\tone {i}\ttwo {word} {i}" for i in range(9) for word in ("uno", "un")]
    source = f"{write(tmp_path, 'a.tsv', *lines)},languages=es+es,{BILINGUAL}"
    rows = made(tmp_path, source, folds=2, together="sentences").rows("train")
    assert [row.folds[0] for row in rows[::2]] == [row.folds[0] for row in rows[1::2]]


@pytest.mark.parametrize(("leaks", "left_out"), [("sentences", (2, 1)), ("pairs", (0, 0)), ("nothing", (0, 0))])
def test_a_translation_of_what_is_judged_is_a_leak(tmp_path, leaks, left_out):
    """The test's sentence differs from training's Spanish one, and shares its translation."""
    test = write(tmp_path, "t.tsv", "primero\tsegundo\t1\tOne 3\tother", "dos 5\ttercero\t1\tanother\tthird")
    sources = [*bilingual(tmp_path), f"{test},languages=es+es,split=test,{BILINGUAL}"]
    folder = made(tmp_path, *sources, folds=3, leaks=leaks)
    gone = left_out[0]
    assert len(folder.rows("train")) == len(folder.rows("train_only")) == 12 - gone
    without = made(tmp_path, *sources[:2], f"{test},languages=es+es,split=test", folds=3, leaks=leaks)
    assert len(without.rows("train")) == 12 - left_out[1]


def test_chains_of_both_languages(tmp_path):
    lines = ["a\tb\t1\tthe a\tthe b", "b\tc\t1\tthe b\tthe c", "x\ty\t0\tthe x\tthe y"]
    pairs = write(tmp_path, "a.tsv", *lines)
    english = f"{pairs},left=4,right=5,languages=en+en,split=train_only"
    folder = made(tmp_path, f"{pairs},languages=es+es,{BILINGUAL}", english, folds=2, chains=True)
    ends = {frozenset((row.left, row.right)): row.folds for row in folder.rows("chains")}
    assert set(ends) == {frozenset(("es:a", "es:c")), frozenset(("en:the en:a", "en:the en:c"))}
    assert len(set(ends.values())) == 1


def test_mistakes_with_translations(tmp_path):
    spanish, english = bilingual(tmp_path)
    with pytest.raises(InputError, match=r"no pair of the split train is left beside those of train_only"):
        made(tmp_path, english)
    for line in ("a.tsv,translation_languages=en+en", f"a.tsv,{BILINGUAL}"):
        with pytest.raises(InputError, match=r"translation_languages needs languages, left_translation"):
            PairSource.parse(line)
    with pytest.raises(InputError, match=r"translation languages are two codes, such as en\+fr"):
        PairSource.parse(spanish.replace("en+en", "en"))
    with pytest.raises(InputError, match=r"split is one of train, valid, test, train_only"):
        PairSource.parse("a.tsv,split=more")


def test_every_word_with_a_vector_is_known(files, prepared):
    folder = DataDirectory(prepared)
    table, dictionary = folder.vectors().numpy(), folder.dictionary
    lines = (files / "words.vec").read_text(encoding="utf-8").split("\n")[1:-1]
    given = {line.split()[0]: np.array(line.split()[1:], dtype=np.float32) for line in lines}
    for word, vector in given.items():
        np.testing.assert_array_equal(table[dictionary.index(word)], vector)
    (without,) = set(dictionary.symbols[dictionary.nspecial :]) - set(given)
    mean = np.mean([np.linalg.norm(v) for v in given.values()])
    np.testing.assert_allclose(np.linalg.norm(table[dictionary.index(without)]), mean, rtol=1e-5)
    assert folder.manifest["vectors"] == {"file": "words.vec", "found": len(given)}


def test_a_word_of_the_judged_alone_needs_a_vector(tmp_path):
    train = write(tmp_path, "a.tsv", "a b\tc a\t1", "a\tc c\t0")
    valid = write(tmp_path, "v.tsv", "new stranger\ta\t0")
    vectors = write(tmp_path, "v.vec", "2 2", "new 1 0", "a 0 1")
    symbols = made(tmp_path, train, f"{valid},split=valid", vectors=tmp_path / "v.vec", min_count=2, leaks="pairs")
    assert set(symbols.dictionary.symbols[4:]) == {"a", "c", "new"}  # b stands once, stranger has no vector
    assert vectors


def test_a_folder_like_another(tmp_path, prepared):
    train = write(tmp_path, "a.tsv", "Reembolso ajeno\tb\t1", "c\td\t0")
    folder, other = made(tmp_path, train, like=prepared), DataDirectory(prepared)
    assert folder.dictionary.symbols == other.dictionary.symbols
    np.testing.assert_array_equal(folder.vectors(), other.vectors())
    assert folder.tokenizer == other.tokenizer
    assert folder.rows("train")[0].left == "reembolso ajeno"


def test_the_command_says_what_it_did_and_replaces_the_folder_whole(files, tmp_path, capsys):
    line = [
        "match",
        "prepare",
        "-o",
        str(tmp_path / "p"),
        f"{files}/train.tsv",
        "--folds",
        "2",
        "--together",
        "sentences",
    ]
    for _ in range(2):
        assert main(line) == 0
    said = capsys.readouterr().err
    assert "train: " in said
    assert "pairs in each fold: " in said
    manifest = json.loads((tmp_path / "p" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["vectors"] is None
    assert str(files) not in json.dumps(manifest)
    assert not list(tmp_path.glob("*.tmp"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--folds", "0"], "--folds is 0: give a number from 1"),
        (["--longest", "0"], "--longest is 0: give a number from 1"),
        (
            ["--vectors", "v.vec", "--like", "p"],
            "--vectors has no effect beside --like, which brings words, dictionary",
        ),
        (["--longest", "9", "--like", "p"], "--longest has no effect beside --like"),
        (["--vectors", "v.vec", "--dim", "9"], "--dim is for random vectors, and --vectors names a file: leave it out"),
        (["--together", "components"], "--together says how folds are made, and --folds makes none: leave it out"),
        (["--like", "nowhere"], "manifest.json is missing"),
        (["--vectors", "nowhere.vec"], "there is no file of word vectors at nowhere.vec"),
    ],
)
def test_bad_options(files, tmp_path, capsys, words, message):
    assert main(["match", "prepare", "-o", str(tmp_path / "p"), f"{files}/train.tsv", *words]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "p").exists()


def test_unlabelled_pairs_are_for_the_test_alone(files, tmp_path):
    with pytest.raises(InputError, match=r"test.tsv, line 1: the split valid needs labels"):
        made(tmp_path, f"{files}/train.tsv", f"{files}/test.tsv,label=none,split=valid")
    folder = made(tmp_path, f"{files}/train.tsv", f"{files}/test.tsv,label=none,split=test")
    assert folder.rows("test")[0].label is None


def test_files_without_a_pair(tmp_path):
    with pytest.raises(InputError, match="the files have no pairs"):
        made(tmp_path, write(tmp_path, "a.tsv"))
    assert not (tmp_path / "data").exists()


def test_no_training_pair_left(tmp_path):
    train = write(tmp_path, "a.tsv", "a\tb\t1")
    with pytest.raises(InputError, match="no training pair is left"):
        made(tmp_path, train, f"{train},split=valid")


def test_chains_of_two_are_trained_on_outside_their_folds_and_never_judged(tmp_path):
    """Folds by column 4; b is in the middle of a, c and d. The pair of a and d has a label, that of c and d none."""
    lines = ["a\tb\t1\t0", "b\tc\t1\t0", "b\td\t1\t0", "a\td\t0\t0", "e\tf\t1\t1", "f\tg\t1\t1", "h\ti\t0\t2"]
    train = write(tmp_path, "a.tsv", *lines)
    test = write(tmp_path, "t.tsv", "g\te\t1")
    sources = f"{train},fold=4", f"{test},split=test"
    folder = made(tmp_path, *sources, leaks="pairs", chains=True)
    ends = {(row.left, row.right, row.label, row.folds) for row in folder.rows("chains")}
    assert ends == {("a", "c", 1, (0, 0)), ("c", "d", 1, (0, 0))}
    assert folder.manifest["chains"] == {
        "pairs": 2,
        "with a label of their own": 1,
        "of these matching": 0,
        "in the splits valid or test": 1,
        "in three folds": 0,
    }
    assert [row.id for row in folder.fold(0, held_out=True)] == [f"a.tsv:{line}" for line in (1, 2, 3, 4)]
    assert not [row for row in folder.fold(0, held_out=False) if row.id.startswith("chains")]
    assert [row.id for row in folder.fold(2, held_out=False)][-2:] == ["chains:1", "chains:2"]
    assert len(folder.training()) == len(lines) + 2
    assert len(made(tmp_path, *sources, leaks="pairs").training()) == len(lines)


def supplemented(folder, sources: list[str], supplement: list[str], **settings) -> DataDirectory:
    parsed = [[PairSource.parse(line) for line in given] for given in (sources, supplement)]
    prepare(folder / "data", parsed[0], [], Settings(**settings), parsed[1])
    return DataDirectory(folder / "data")


def test_a_supplement_is_trained_on_in_every_fold_and_changes_none(tmp_path):
    train = write(tmp_path, "a.tsv", *(f"a{n}\tb{n}\t{n % 2}" for n in range(10)))
    test = write(tmp_path, "t.tsv", "t0\tu0\t1") + ",split=test"
    more = write(tmp_path, "m.tsv", "A1!\tnew\t1", "x\tU0\t0", "x\ty\t1", "y\tx\t1", "v\tw\t0", "w\tv\t1", "z\tz2\t0")
    alone = made(tmp_path, train, test, folds=3, together="components").rows("train")
    folder = supplemented(tmp_path, [train, test], [more], folds=3, together="components", leaks="nothing")
    assert folder.rows("train") == alone
    assert folder.folds == 3
    left_out = {"contradictory": 2, "duplicate": 1, "with a sentence of the other files": 2}
    assert folder.manifest["supplement"] == {"pairs": 2, "matching": 1, "left_out": left_out}
    added = folder.rows("supplement")
    assert [(row.left, row.right, row.label) for row in added] == [("x", "y", 1), ("z", "z2", 0)]
    assert not {row.group for row in added} & {row.group for row in alone}
    for fold in range(3):
        held_out = folder.fold(fold, held_out=True)
        assert held_out == [row for row in alone if row.folds == (fold, fold)]
        trained = folder.fold(fold, held_out=False)
        assert trained[-2:] == added
        assert not {row.id for row in held_out} & {row.id for row in trained}
    assert len(folder.training()) == 12
    assert all(word in folder.dictionary for word in ("a1", "z2"))


def test_a_supplement_with_a_translation_of_what_is_judged(tmp_path):
    train = write(tmp_path, "a.tsv", "a\tb\t1\tA\tB", "c\td\t0\tC\tD") + f",languages=es+es,{BILINGUAL}"
    test = write(tmp_path, "t.tsv", "uno\tdos\t1\tone\ttwo") + f",languages=es+es,split=test,{BILINGUAL}"
    more = write(tmp_path, "m.tsv", "one\tthree\t0", "four\tfive\t1") + ",languages=en+en"
    added = supplemented(tmp_path, [train, test], [more]).rows("supplement")
    assert [row.left_text for row in added] == ["four"]
    english = write(tmp_path, "e.tsv", "eins\tzwei\t1", "x\ty\t0") + ",languages=en+en,split=test"
    spanish = (
        write(tmp_path, "s.tsv", "ein\tzwo\t1\teins\tzwei", "vier\tacht\t1\tfour\tfive")
        + f",languages=es+es,{BILINGUAL}"
    )
    added = supplemented(tmp_path, [train, english], [spanish]).rows("supplement")
    assert [row.left_text for row in added] == ["vier"], "translations that the supplement itself names"


@pytest.mark.parametrize(
    ("line", "options", "message"),
    [
        ("x\ty\t1", ",split=test", "a supplement has no split and no folds"),
        ("x\ty\t1", ",fold=3", "a supplement has no split and no folds"),
        ("x\ty\t1", ",label=none", "m.tsv, line 1: the supplement needs labels"),
        ("x\ty\t1", ",languages=en+fr", "some files say their languages"),
        ("x\ta\t1", "", "no pair of the supplement is left"),
    ],
)
def test_a_supplement_that_cannot_be(tmp_path, line, options, message):
    train = write(tmp_path, "a.tsv", "a\tb\t1", "c\td\t0")
    with pytest.raises(InputError, match=message):
        supplemented(tmp_path, [train], [write(tmp_path, "m.tsv", line) + options])


def test_what_the_command_says_of_a_supplement(tmp_path, capsys):
    train = write(tmp_path, "a.tsv", "a\tb\t1", "c\td\t0")
    more = write(tmp_path, "m.tsv", "x\ty\t1", "x\ta\t0")
    main(["match", "prepare", "-o", str(tmp_path / "data"), train, "--supplement", more])
    said = capsys.readouterr().err
    assert "supplement: 1 pairs, 1 labelled as matching\n" in said
    assert "left out of the supplement: 1 with a sentence of the other files\n" in said


def test_a_chain_is_in_the_folds_of_all_three_sentences(tmp_path):
    rows = [Row("x", 1, 0, (0, 1), "a", "b", "A", "B"), Row("y", 1, 0, (1, 2), "b", "c", "B", "C")]
    assert _chains(rows, [], {})[1]["in three folds"] == 1
    rows[1] = Row("y", 1, 0, (1, 0), "b", "c", "B", "C")
    (chain,), _ = _chains(rows, [], {})
    assert (chain.left, chain.right, chain.folds, chain.left_text) == ("a", "c", (0, 1), "A")
    given = [Row("x", 1, 0, (0, 0), "a", "b", "A", "B"), Row("y", 1, 0, (1, 1), "b", "c", "B", "C")]
    given.append(Row("z", 0, 0, (1, 1), "a", "d", "A", "D"))
    (chain,), _ = _chains(given, [], {})
    assert chain.folds == (0, 1), "a sentence of given folds may be in several"
