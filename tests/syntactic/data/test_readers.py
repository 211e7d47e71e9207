"""Parallel text as it is published."""

from __future__ import annotations

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.data.readers import LineAligned, Monolingual, TabSeparated, TatoebaExport, spoken


@pytest.fixture
def write(tmp_path):
    def of(name, text):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return of


def test_tab_separated(write):
    reader = TabSeparated(("en", "de"), (write("x.tsv", "Go.\tGeh.\tCC\nI am.\tIch bin.\n"),))
    assert len(reader) == 2
    assert reader.name == "en-de x.tsv"
    assert list(reader.links(0)) == [("en", "Go.", "de", "Geh."), ("en", "I am.", "de", "Ich bin.")]
    assert list(reader.links(1)) == [("en", "I am.", "de", "Ich bin.")]


def test_pairs_with_numbers(write):
    lines = "1276\tLet's go.\t77\tGehen wir!\n5\tI am.\t6\tIch bin.\tCC\nI.\tIch.\tCC\t7\n1984\t1984\tCC\t1\n"
    reader = TabSeparated(("en", "de"), (write("x.tsv", lines),))
    found = [link[1::2] for link in reader.links(0)]
    assert found == [("Let's go.", "Gehen wir!"), ("I am.", "Ich bin."), ("I.", "Ich."), ("1984", "1984")]


def test_a_line_without_a_tab(write):
    reader = TabSeparated(("en", "de"), (write("x.tsv", "Go.\tGeh.\nI am.\n"),))
    with pytest.raises(InputError, match=r"x\.tsv, line 2: no tab"):
        list(reader.links(1))


def test_line_aligned(write):
    files = write("x.en", "One.\n<i>Two</i>\nThree.\n"), write("x.de", "Eins.\n- Zwei\nDrei.\n")
    assert next(LineAligned(("en", "de"), files).links(1)) == ("en", "<i>Two</i>", "de", "- Zwei")
    reader = LineAligned(("en", "de"), files, 2, True)
    assert len(reader) == 2
    assert list(reader.links(0)) == [("en", "One.", "de", "Eins."), ("en", "Two", "de", "Zwei")]
    write("x.de", "Eins.\n")
    with pytest.raises(InputError, match=r"x\.en has 3 lines and .*x\.de has 1"):
        len(reader)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("- I know.", "I know."),
        ("–I know.", "I know."),
        ("{\\an8}<i>I know.</i>", "I know."),
        ("♪ I know ♪", "I know"),
        ("[door slams] I know.", "I know."),
        ("(SIGHS) I know.", "I know."),
        ("DR. JONES: I know.", "I know."),
        ("- Yes. - No.", "Yes. - No."),
        ("The time: 10:30 now.", "The time: 10:30 now."),
        ("<p>Tu <hon>viens", "Tu viens"),
    ],
)
def test_subtitles(line, words):
    assert " ".join(spoken(line).split()) == words


def test_tatoeba_export(write):
    sentences = write(
        "sentences.csv", "1\teng\tI go.\n2\tdeu\tIch gehe.\n3\tfra\tJe vais.\n4\tcmn\t我走。\n5\teng\tI walk.\n"
    )
    links = write("links.csv", "1\t2\n2\t1\n1\t3\n2\t4\n1\t5\n1\t99\n")
    reader = TatoebaExport(("de", "en", "zh"), (sentences, links))
    assert len(reader) == 6
    # Tatoeba's file has each link in both directions, but need not
    both = [("en", "I go.", "de", "Ich gehe."), ("de", "Ich gehe.", "en", "I go.")]
    found = [*both, None, ("de", "Ich gehe.", "zh", "我走。"), None, None]
    assert list(reader.links(0)) == found
    assert list(reader.links(3)) == found[3:]
    write("links.csv", "1\t2\n1;3\n")
    with pytest.raises(InputError, match=r"links\.csv, line 2: not two sentence numbers"):
        list(reader.links(0))
    write("sentences.csv", "1\teng\n")
    with pytest.raises(InputError, match=r"sentences\.csv, line 1: not number, language"):
        list(reader.links(0))


def test_moving_a_file_changes_nothing(write):
    """What a corpus remembers of an input is its content and settings, not its folder."""
    assert repr(TabSeparated(("en", "de"), (write("a.tsv", ""),))) == repr(TabSeparated(("en", "de"), ()))
    assert repr(LineAligned(("en", "de"), (), 3)) != repr(LineAligned(("en", "de"), (), 4))


def test_sentences_without_translations(write):
    treebank = "# text = Ich gehe.\n1\tIch\t_\tPRON\t_\t_\t0\troot\t_\t_\n2\tgehe\t_\tVERB\t_\t_\t1\tdep\t_\t_\n\n"
    for name, text in (("a.conllu", treebank + treebank.replace("Ich", "Du")), ("a.txt", "Ich gehe.\nDu gehe.\n")):
        reader = Monolingual(("de",), (write(name, text),))
        assert len(reader) == 2
        assert list(reader.links(0)) == [("de", "Ich gehe.", "de", "Ich gehe."), ("de", "Du gehe.", "de", "Du gehe.")]
        assert [link[1] for link in reader.links(1)] == ["Du gehe."]
