"""Sentences and links on disk."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.data import corpus as module
from fairseq_xl.syntactic.data.corpus import Corpus, fold
from fairseq_xl.syntactic.data.readers import Monolingual, TabSeparated

FILTERS = ("short", "several", "incomplete")


@pytest.fixture
def corpus(tmp_path):
    with closing(Corpus(tmp_path / "corpus.sqlite")) as found:
        yield found


@pytest.fixture
def pairs(tmp_path):
    def of(language, *lines, name=None):
        path = tmp_path / (name or f"{language}.tsv")
        path.write_text("".join(f"{en}\t{other}\n" for en, other in lines), encoding="utf-8")
        return TabSeparated(("en", language), (path,))

    return of


def texts(corpus, source, target):
    query = (
        "SELECT s.text, t.text FROM link JOIN sentence s ON s.id = source JOIN sentence t ON t.id = target"
        " WHERE source_language = ? AND target_language = ? ORDER BY 1, 2"
    )
    return corpus.db.execute(query, (source, target)).fetchall()


def test_reading_counts_and_links_both_ways(corpus, pairs):
    reader = pairs(
        "de",
        ("I go home.", "Ich gehe  heim."),
        ("I go home.", "Ich gehe heim."),
        ("I go home.", "Ich geh nach Hause."),
        ("Go!", "Ich gehe heim."),
        ("Go home now!", "Geh!"),
        ("I go. You go.", "Ich gehe, du gehst."),
        ("I go home", "Ich gehe heim."),
        ("I go home.", " "),
    )
    counts = corpus.read(reader, 3, FILTERS)
    assert counts == {"lines": 8, "kept": 2, "duplicate": 1, "short": 2, "several": 1, "incomplete": 1, "empty": 1}
    assert corpus.pair_counts() == {("de", "en"): 2, ("en", "de"): 2}
    expected = [("I go home.", "Ich geh nach Hause."), ("I go home.", "Ich gehe heim.")]
    assert texts(corpus, "en", "de") == expected
    assert texts(corpus, "de", "en") == [(de, en) for en, de in expected]
    assert corpus.read(reader, 3, FILTERS) == counts


def test_pivoting_is_a_join_of_translations(corpus, pairs):
    corpus.read(pairs("de", ("A b c.", "D eins."), ("A b c.", "D zwei."), ("X y z.", "D drei.")), 0, ())
    corpus.read(pairs("es", ("A b c.", "E uno."), ("X y z.", "E tres."), ("Q.", "E sola.")), 0, ())
    for _ in range(2):
        corpus.pivot("en", 10)
        assert texts(corpus, "de", "es") == [("D drei.", "E tres."), ("D eins.", "E uno."), ("D zwei.", "E uno.")]
        assert [pair[::-1] for pair in texts(corpus, "es", "de")] == texts(corpus, "de", "es")
    assert corpus.pair_counts()["en", "de"] == 3


def test_pivoting_takes_so_many_translations_of_a_sentence(corpus, pairs):
    for language in ("de", "es"):
        corpus.read(pairs(language, *[("Yes.", f"{language} {number}.") for number in range(5)]), 0, ())
    corpus.pivot("en", 2)
    assert corpus.pair_counts()["de", "es"] == 4


def test_a_killed_reading_goes_on(corpus, pairs, monkeypatch):
    monkeypatch.setattr(module, "_LINES_PER_TRANSACTION", 4)
    reader = pairs("de", *[(f"I see number {number}.", f"Ich sehe Nummer {number}.") for number in range(10)])
    add, seen = Corpus._add, []

    def killed_at_the_seventh(self, link, *rest):
        seen.append(int(link[1][-2]))
        if len(seen) == 7:
            raise KeyboardInterrupt
        return add(self, link, *rest)

    monkeypatch.setattr(Corpus, "_add", killed_at_the_seventh)
    with pytest.raises(KeyboardInterrupt):
        corpus.read(reader, 3, FILTERS)
    assert corpus.pair_counts()["en", "de"] == 4
    assert corpus.read(reader, 3, FILTERS) == {"lines": 10, "kept": 10}
    assert seen == [0, 1, 2, 3, 4, 5, 6, 4, 5, 6, 7, 8, 9]
    assert corpus.pair_counts()["en", "de"] == 10


def test_changed_inputs_and_settings_are_refused(corpus, pairs):
    corpus.read(pairs("de", ("A b c.", "D e f.")), 3, FILTERS)
    with pytest.raises(InputError, match=r"en-de de\.tsv has changed since"):
        corpus.read(pairs("de", ("A b c.", "D e g.")), 3, FILTERS)
    corpus.settle("filters", ["short", 3])
    corpus.settle("filters", ["short", 3])
    with pytest.raises(InputError, match=r"was made with filters \[\"short\", 3\], not"):
        corpus.settle("filters", ["short", 2])


def test_a_pipe_is_refused_before_it_is_read(corpus):
    there, here = os.pipe()
    os.write(here, b"One two three.\n")
    os.close(here)
    with pytest.raises(InputError, match="is a pipe, and would have to be read twice: give a file"):
        corpus.read(Monolingual(("en",), (Path(f"/dev/fd/{there}"),)), 3, FILTERS)
    assert os.read(there, 100) == b"One two three.\n"
    os.close(there)


def test_equal_names_in_other_folders(corpus, pairs, tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
    one, two = (pairs("de", (f"A b {name}.", f"D e {name}."), name=f"{name}/de.tsv") for name in ("one", "two"))
    for reader in (one, two, one):
        assert corpus.read(reader, 0, ()) == {"lines": 1, "kept": 1}
    assert corpus.pair_counts()["de", "en"] == 2
    # the same content elsewhere is no other input
    assert corpus.read(pairs("de", ("A b one.", "D e one."), name="moved.tsv"), 0, ()) == {"lines": 1, "kept": 1}


def test_a_mistake_can_be_mended_behind_what_was_read(corpus, pairs, monkeypatch):
    monkeypatch.setattr(module, "_LINES_PER_TRANSACTION", 4)
    lines = [(f"I see number {number}.", f"Ich sehe Nummer {number}.") for number in range(11)]
    reader = pairs("de", *lines)
    path = reader.files[0]
    text = path.read_text()
    path.write_bytes(text.encode().replace(b"Nummer 9", b"Nummer \xe4"))
    for _ in range(2):
        with pytest.raises(InputError, match=r"de\.tsv, line 10: byte 0xe4"):
            corpus.read(reader, 3, FILTERS)
    assert corpus.pair_counts()["en", "de"] == 8
    path.write_text(text.replace("Nummer 3", "Nummer drei"))
    with pytest.raises(InputError, match=r"en-de de\.tsv has changed since"):
        corpus.read(reader, 3, FILTERS)
    path.write_text(text)
    assert corpus.read(reader, 3, FILTERS) == {"lines": 11, "kept": 11}
    assert [en for en, _ in texts(corpus, "en", "de")] == sorted(en for en, _ in lines)
    path.write_text(text + "I see more.\tIch sehe mehr.\n")
    with pytest.raises(InputError, match=r"en-de de\.tsv has changed since"):
        corpus.read(reader, 3, FILTERS)


def test_tags(corpus, pairs):
    corpus.read(pairs("de", *[(f"I see {number}.", f"Ich sehe {number}.") for number in range(25)]), 3, FILTERS)
    corpus.use_tagger("de", "one")
    assert corpus.untagged("de") == 25
    seen = []
    for number, text in corpus.sentences_without_tags("de", batch=4):
        seen.append(text)
        corpus.give_tags([("PRON VERB NUM PUNCT", number)])
    assert seen == [f"Ich sehe {number}." for number in range(25)]
    assert (corpus.untagged("de"), corpus.tagged_languages()) == (0, ["de"])
    corpus.use_tagger("de", "one")
    assert corpus.untagged("de") == 0
    corpus.use_tagger("de", "two")
    assert (corpus.untagged("de"), corpus.tagged_languages()) == (25, [])


def test_the_signature_names_what_decides_the_content(corpus, pairs):
    before = corpus.signature()
    corpus.read(pairs("de", ("A b c.", "D e f.")), 3, FILTERS)
    read = corpus.signature()
    corpus.use_tagger("de", "one")
    assert before != read != corpus.signature()


def test_folds():
    assert fold("Stop it!") == fold("stop it")
    assert fold("Stop it!") != fold("Stop him!")


def test_one_writer_at_a_time(corpus):
    other = Corpus(corpus.path)
    with corpus.locked(), pytest.raises(InputError, match="another process is at work on"), other.locked():
        pass
    with other.locked():
        pass
    other.close()


def test_files_that_are_no_corpus(tmp_path):
    (tmp_path / "x").write_text("no database at all, but long enough to be looked at" * 99)
    with pytest.raises(InputError, match="is not a corpus"):
        Corpus(tmp_path / "x")
    with pytest.raises(InputError, match="there is no corpus"):
        Corpus(tmp_path / "y", must_exist=True)
    assert not (tmp_path / "y").exists()
