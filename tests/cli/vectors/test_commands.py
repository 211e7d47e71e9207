"""``fairseq-xl vectors`` as a user types it."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from fairseq_xl.cli.main import main
from fairseq_xl.cli.parsing import load
from fairseq_xl.cli.vectors import COMMANDS
from fairseq_xl.vectors.table import WordVectors, read_vectors, write_vectors
from fairseq_xl.vectors.transform import Transformation, transform


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    words = ["the", "cat", "dog", "</s>", "<unk>", "tree"]
    matrix = rng.standard_normal((6, 4)).astype(np.float32)
    matrix[2] = 2 * matrix[1] + 0.01
    write_vectors(tmp_path / "in.vec", WordVectors(words, matrix))
    (tmp_path / "dict.txt").write_text("cat 6\nthe 3\nxylem 1\ndog 2\nmadeupword0000 0\n")
    return tmp_path


def vectors(*arguments: object) -> int:
    return main(["vectors", *map(str, arguments)])


@pytest.mark.parametrize("step", COMMANDS)
def test_help_explains_every_option(step: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        vectors(step, "--help")
    assert ended.value.code == 0
    assert "--quiet" in capsys.readouterr().out
    assert all(each.metadata["help"] for each in fields(load(COMMANDS[step][0])))


def test_a_command_must_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert vectors() == 2
    said = capsys.readouterr().err
    assert all(f"  {name}  " in said for name in COMMANDS)


@pytest.mark.parametrize("name", ["out.vec", "out.vec.gz", "out.npy"])
def test_convert_keeps_the_dictionarys_words_in_its_order(
    folder: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status = vectors("convert", folder / "in.vec", "-o", folder / name, "--dict", folder / "dict.txt")
    assert status == 0
    before, after = read_vectors(folder / "in.vec"), read_vectors(folder / name)
    assert after.words == ["cat", "the", "dog"]
    np.testing.assert_array_equal(after.matrix, before.select(after.words).matrix)
    said = capsys.readouterr().err
    assert "3 of 4 words have a vector (75.00% of the words, 91.67% of the tokens)" in said
    assert f"{name}: 3 vectors of dimension 4" in said


def test_convert_keeps_the_special_tokens_when_asked(folder: Path) -> None:
    options = ["--dict", folder / "dict.txt", "--specials"]
    assert vectors("convert", folder / "in.vec", "-o", folder / "out.npy", *options) == 0
    assert read_vectors(folder / "out.npy").words == ["cat", "the", "dog", "</s>", "<unk>"]


def test_convert_without_a_dictionary_keeps_everything(folder: Path) -> None:
    assert vectors("convert", folder / "in.vec", "-o", folder / "out.npy") == 0
    before, after = read_vectors(folder / "in.vec"), read_vectors(folder / "out.npy")
    assert after.words == before.words
    np.testing.assert_array_equal(after.matrix, before.matrix)


def test_convert_writes_an_array_and_reads_it(folder: Path) -> None:
    before = read_vectors(folder / "in.vec")
    for source, target in [("in.vec", "one.npy"), ("one.npy", "two.npy")]:
        assert vectors("convert", folder / source, "-o", folder / target, "--normalize") == 0
    expected = transform(before, Transformation(normalize=True)).matrix
    np.testing.assert_allclose(read_vectors(folder / "two.npy").matrix, expected, atol=1e-6)


def test_convert_transforms_with_the_dictionarys_counts(folder: Path) -> None:
    options = ["--dict", folder / "dict.txt", "--center", "--weighted", "--remove-components", "1"]
    assert vectors("convert", folder / "in.vec", "-o", folder / "out.npy", *options, "--normalize") == 0
    chosen = read_vectors(folder / "in.vec", words=["cat", "the", "dog"])
    expected = transform(
        chosen, Transformation(center=True, remove_components=1, normalize=True), weights=np.array([6, 3, 2])
    )
    np.testing.assert_array_equal(read_vectors(folder / "out.npy").matrix, expected.matrix)


def test_convert_centers_on_the_words_of_another_dictionary(folder: Path) -> None:
    """A table of more words lies where that of the training lies: the words of both have the same vectors."""
    steps = ["--normalize-first", "--center", "--normalize"]
    assert vectors("convert", folder / "in.vec", "-o", folder / "few.npy", "--dict", folder / "dict.txt", *steps) == 0
    command = ["convert", folder / "in.vec", "-o", folder / "all.npy", "--center-on", folder / "dict.txt", *steps]
    assert vectors(*command) == 0
    few, all_words = read_vectors(folder / "few.npy"), read_vectors(folder / "all.npy")
    assert len(all_words.words) > len(few.words)
    np.testing.assert_allclose(all_words.select(few.words).matrix, few.matrix, atol=1e-6)


def test_convert_whitens_and_mixes_random_vectors_in(folder: Path) -> None:
    options = ["--whiten", "--random-share", "0.5", "--random-seed", "7", "--normalize"]
    assert vectors("convert", folder / "in.vec", "-o", folder / "out.npy", *options) == 0
    before = read_vectors(folder / "in.vec")
    expected = transform(before, Transformation(whiten=True, random_share=0.5, random_seed=7, normalize=True))
    np.testing.assert_array_equal(read_vectors(folder / "out.npy").matrix, expected.matrix)


def test_all_random_is_what_random_writes(folder: Path) -> None:
    """So a recipe's --transform '--random-share 1' trains against the random baseline."""
    options = ["--dict", folder / "dict.txt"]
    command = ["convert", folder / "in.vec", "-o", folder / "a.npy", *options, "--center"]
    assert vectors(*command, "--random-share", "1") == 0
    assert vectors("random", "-o", folder / "b.npy", *options, "--dim", "4") == 0
    a, b = read_vectors(folder / "a.npy"), read_vectors(folder / "b.npy")
    assert a.words == ["cat", "the", "dog"]
    np.testing.assert_array_equal(a.matrix, b.select(a.words).matrix)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--weighted", "--center"], "--weighted, --specials and --min-coverage need a dictionary"),
        (["--specials"], "--weighted, --specials and --min-coverage need a dictionary"),
        (["--weighted", "--dict", "dict.txt"], "--weighted changes nothing without --center"),
        (["--center-on", "dict.txt"], "--center-on changes nothing without --center"),
        (["--center-on", "other.txt", "--center"], "it has none of the words, or counts, of the table"),
        (["--dim", "300"], "dimension 300 is needed"),
        (["--dict", "other.txt"], "for none of the 1 words"),
        (["--dict", "half.txt", "--min-coverage", "0.6"], "a vector for 50.0% of the words of"),
        (["--dict", "none.txt"], "no dictionary file at"),
        (["--remove-components", "9"], "cannot remove 9 components"),
        (["--random-share", "nan"], "--random-share is nan: give a finite number"),
        (["--random-share", "7"], "--random-share is 7.0: give a number from 0 to 1"),
        (["--dim", "0"], "--dim is 0: give a number from 1"),
    ],
)
def test_convert_says_what_cannot_be_done(folder: Path, monkeypatch, capsys, options: list[str], sentence: str) -> None:
    monkeypatch.chdir(folder)
    Path("other.txt").write_text("Wort 1\n")
    Path("half.txt").write_text("dog 2\nWort 1\n")
    assert vectors("convert", "in.vec", "-o", "out.vec", *options) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.splitlines()[-1].startswith("error: ")
    assert "Traceback" not in said
    assert not Path("out.vec").exists()


@pytest.mark.parametrize(
    ("inputs", "sentence"),
    [
        (["en=in.vec", "fr=five.vec"], "five.vec has 5 dimensions where others have 4"),
        (["en=in.vec", "1=in.vec"], "vectors join: '1' is no code of a language, such as en"),
    ],
)
def test_join_says_what_cannot_be_done(folder: Path, monkeypatch, capsys, inputs: list[str], sentence: str) -> None:
    monkeypatch.chdir(folder)
    write_vectors(Path("five.vec"), WordVectors(["le"], np.ones((1, 5), np.float32)))
    assert vectors("join", *inputs, "-o", "out.vec") == 2
    assert sentence in capsys.readouterr().err
    assert not Path("out.vec").exists()


def test_random_covers_a_dictionary_or_a_list(folder: Path) -> None:
    (folder / "list").write_text("\ufeffdog\n\ncat\ndog\n", encoding="utf-8")
    assert vectors("random", "-o", folder / "a.vec", "--dict", folder / "dict.txt", "--dim", "5") == 0
    assert vectors("random", "-o", folder / "b.npy", "--words", folder / "list", "--dim", "5") == 0
    a, b = read_vectors(folder / "a.vec"), read_vectors(folder / "b.npy")
    assert a.words == ["cat", "the", "xylem", "dog"]
    assert b.words == ["dog", "cat"]
    np.testing.assert_array_equal(a.select(["dog", "cat"]).matrix, b.matrix)


def test_coverage_names_the_missing_words(folder: Path, capsys) -> None:
    command = ["coverage", folder / "in.vec", "--dict", folder / "dict.txt"]
    assert vectors(*command, "--min-coverage", "0.75") == 0
    shown = capsys.readouterr().out
    assert "3 of 4 words have a vector" in shown
    assert shown.splitlines()[-1].split() == ["1", "xylem"]
    assert vectors(*command, "--min-coverage", "0.76", "--show", "0") == 1
    told = capsys.readouterr()
    assert "xylem" not in told.out
    assert "--min-coverage asks for 76.00%" in told.err
    assert vectors(*command, "--min-coverage", "nan") == 2
    assert "--min-coverage is nan" in capsys.readouterr().err


def test_neighbours_are_listed_with_their_cosines(folder: Path, capsys) -> None:
    assert vectors("neighbours", "cat", "--vectors", folder / "in.vec", "-k", "2") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "cat"
    assert lines[1].split() == ["1.0000", "dog"]
    assert len(lines) == 3
    options = ["--vectors", folder / "in.vec", "--dict", folder / "dict.txt"]
    assert vectors("neighbours", "tree", *options) == 0
    found = {line.split()[1] for line in capsys.readouterr().out.splitlines()[1:]}
    assert found == {"cat", "the", "dog"}
    assert vectors("neighbours", "cat", "tree", "--vectors", folder / "in.vec", "--dict", folder / "dict.txt") == 0
    assert " tree" not in capsys.readouterr().out, "it is not in the dictionary"
    assert vectors("neighbours", "Cat", "--vectors", folder / "in.vec") == 2
    assert "did you mean 'cat'?" in capsys.readouterr().err


def test_trained_vectors_go_through_every_step(folder: Path, capfd) -> None:
    pytest.importorskip("fasttext", reason="needs the compiled package fasttext")
    (folder / "text").write_text("the cat sees the dog\nthe dog sees the tree\n" * 30)
    settings = ["--dim", 6, "--epoch", 30, "--min-count", 1, "--buckets", 400, "--threads", 3]
    assert vectors("train", folder / "text", "--output", folder / "m", *settings, "--quiet") == 0
    assert "m.bin and" in capfd.readouterr().err
    command = ["convert", folder / "m.bin", "-o", folder / "t.vec", "--dict", folder / "dict.txt"]
    assert vectors(*command, "--quiet") == 0
    assert "4 of 4 words have a vector" in capfd.readouterr().err
    assert read_vectors(folder / "t.vec").words == ["cat", "the", "xylem", "dog"]
    assert vectors("coverage", folder / "m.bin", "--dict", folder / "dict.txt") == 0
    shown = capfd.readouterr().out
    assert "not counting those made of subwords, 3 of 4 words" in shown
    assert "xylem" in shown
    assert vectors("neighbours", "doghouse", "--vectors", folder / "m.bin") == 0
    assert capfd.readouterr().out.startswith("doghouse\n")


def test_a_pipe_that_closes_and_a_missing_file_leave_no_traceback(folder: Path, run_cli) -> None:
    done = run_cli("vectors", "convert", folder / "none.vec", "-o", folder / "out.vec")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: there is no file of word vectors at {folder / 'none.vec'}\n"
