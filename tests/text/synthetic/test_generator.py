"""The generated corpus: its splits, its files, and that it stays the same."""

from __future__ import annotations

import pytest

from fairseq_xl.cli.data.corpora import Synthetic
from fairseq_xl.cli.main import main
from fairseq_xl.io.errors import InputError
from fairseq_xl.text.synthetic import generator as synthetic
from fairseq_xl.text.synthetic.grammar import Pair

FIRST_SOURCE = "girömin reniste vimevte linekerte vögöp ohuh vimevte ozohmajun salugsum vimevsim mövidte ."
FIRST_TARGET = "the man who buys the small orange helped the big cats ."


def test_same_seed_same_corpus_and_another_seed_another() -> None:
    first = synthetic.generate(seed=5, train=50, valid=10, test=10)
    assert first == synthetic.generate(seed=5, train=50, valid=10, test=10)
    assert first.train != synthetic.generate(seed=6, train=50, valid=10, test=10).train


def test_the_language_is_fixed_for_ever() -> None:
    """Published numbers name only the seed: a change of words or draws must be noticed."""
    pair = synthetic.generate(seed=1, train=1, valid=1, test=1).test[0]
    assert " ".join(pair.source) == FIRST_SOURCE
    assert " ".join(pair.target) == FIRST_TARGET


def test_held_out_sets_do_not_depend_on_the_other_sizes() -> None:
    small = synthetic.generate(seed=5, train=10, valid=20, test=20)
    large = synthetic.generate(seed=5, train=300, valid=20, test=20, monolingual=100)
    assert (small.valid, small.test) == (large.valid, large.test)


def test_split_sizes_and_no_leak(corpus: synthetic.Corpus, pairs: list[Pair]) -> None:
    assert [len(split) for split in (corpus.train, corpus.valid, corpus.test)] == [4000, 200, 200]
    assert len({pair.source for pair in pairs}) == len(pairs)
    assert len({pair.target for pair in pairs}) == len(pairs)
    held_out = {pair.target for pair in corpus.valid + corpus.test}
    assert len(set(corpus.monolingual)) == 2000
    assert not held_out & set(corpus.monolingual)


def test_a_few_hundred_words_and_hardly_a_new_one_in_the_test_set(corpus: synthetic.Corpus) -> None:
    source = {word for pair in corpus.train for word in pair.source}
    target = {word for pair in corpus.train for word in pair.target}
    assert 500 < len(source) < 900
    assert 250 < len(target) < 400
    unseen = [word for pair in corpus.test for word in pair.source if word not in source]
    assert len(unseen) < 0.01 * sum(len(pair.source) for pair in corpus.test)


def test_the_documentation_s_examples_are_in_the_language(pairs: list[Pair]) -> None:
    """Each interlinear example names forms and glosses that the generator makes as well."""
    block = synthetic.__doc__.split("Examples (form, gloss, English)::")[1].split("English is")[0]
    examples = [part.split("\n")[-3:] for part in block.strip("\n").split("\n\n") if part.strip()]
    known = {pair for p in pairs for pair in zip(p.source, p.gloss, strict=True)}
    assert len(examples) == 4
    for source, gloss, _ in examples:
        shown = set(zip(source.split(), gloss.split(), strict=True))
        assert shown <= known, shown - known


def test_command_writes_whole_files_that_line_up(tmp_path, capsys) -> None:
    sizes = {"train": 30, "valid": 5, "test": 6, "monolingual": 40}
    Synthetic(output=tmp_path / "data", seed=2, gloss=True, **sizes).run()
    printed = capsys.readouterr().out.split()
    names = sorted(path.name for path in (tmp_path / "data").glob("[a-z]*"))
    assert sorted(printed) == sorted(str(tmp_path / "data" / name) for name in names)
    assert len(names) == 10
    for split in ("train", "valid", "test"):
        source, target, gloss = (
            (tmp_path / "data" / f"{split}.{suffix}").read_text(encoding="utf-8").splitlines()
            for suffix in ("qel", "en", "gloss")
        )
        assert len(source) == len(target) == len(gloss) == sizes[split]
    assert len((tmp_path / "data" / "mono.en").read_text(encoding="utf-8").splitlines()) == 40


def test_command_refuses_what_it_cannot_do(tmp_path, capsys) -> None:
    assert main(["data", "synthetic", "--output", str(tmp_path), "--valid", "0"]) == 2
    assert "--valid is 0: give a number from 1" in capsys.readouterr().err
    (tmp_path / "file").write_text("here")
    with pytest.raises(InputError, match=r"cannot write .*: .*File exists"):
        Synthetic(output=tmp_path / "file", train=30, valid=1, test=6).run()


def test_a_text_of_the_users_own_is_not_written_over(tmp_path) -> None:
    sizes = {"train": 3, "valid": 2, "test": 2, "monolingual": 0}
    Synthetic(output=tmp_path, seed=2, **sizes).run()
    Synthetic(output=tmp_path, seed=3, **sizes).run()
    (tmp_path / "train.en").write_text("mine")
    with pytest.raises(InputError, match=r"train\.en is not as data synthetic wrote it: move it elsewhere first"):
        Synthetic(output=tmp_path, seed=2, **sizes).run()
    assert (tmp_path / "train.en").read_text() == "mine"
