"""Reading treebanks."""

from __future__ import annotations

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.text.conllu import UPOS, Sentence, read_conllu

GOOD = """\
# sent_id = a1
# text = Zum  Haus, und
1-2\tZum\t_\t_\t_\t_\t_\t_\t_\t_
1\tzu\tzu\tADP\t_\t_\t3\tcase\t_\t_
2\tdem\tder\tDET\t_\t_\t3\tdet\t_\t_
3\tHaus\tHaus\tNOUN\t_\t_\t0\troot\t_\tSpaceAfter=No
4\t,\t,\tPUNCT\t_\t_\t3\tpunct\t_\t_
4.1\tist\tsein\tVERB\t_\t_\t_\t_\t_\t_
5\tund\tund\tCONJ\t_\t_\t3\tcc\t_\t_

1\tJa\tja\tINTJ\t_\t_\t0\troot\t_\tx=y|SpaceAfter=No
2\t!\t!\tPUNCT\t_\t_\t1\tpunct\t_\t_
"""


@pytest.fixture
def read(tmp_path):
    def of(text: str) -> list[Sentence]:
        path = tmp_path / "x.conllu"
        path.write_text(text, encoding="utf-8")
        return list(read_conllu(path))

    return of


def test_words_tokens_and_text(read):
    first, second = read(GOOD)
    assert first.sent_id == "a1"
    assert first.text == "Zum Haus, und"
    assert first.words == ("zu", "dem", "Haus", ",", "und")
    assert first.upos == ("ADP", "DET", "NOUN", "PUNCT", "CCONJ")
    assert (first.tokens, first.sizes) == (("Zum", "Haus", ",", "und"), (2, 1, 1, 1))
    assert (second.sent_id, second.text) == ("", "Ja!")


def test_text_of_contractions_is_theirs(read):
    """Without the comment the text is what is written, not the words behind it."""
    lines = [line for line in GOOD.splitlines(keepends=True) if not line.startswith("# text")]
    assert read("".join(lines))[0].text == "Zum Haus, und"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("4\t,\t,\tPUNCT\t_\t_\t3\tpunct\t_\t_", "4\t,\t,\tPUNCT", "line 7: 4 columns"),
        ("5\tund", "6\tund", "line 9: word '6' does not follow word 4"),
        ("CONJ", "KON", "line 9: 'und' has the tag 'KON'"),
        ("2\tdem\tder\tDET", "2\tdem\tder\t_", "line 5: 'dem' has the tag '_'"),
        ("1-2\tZum", "2-3\tZum", "line 3: the token 2-3 does not follow word 0"),
        ("1-2\tZum", "1-x\tZum", "line 3: the token 1-x"),
        ("2\tdem", "2-3\tdem", "line 5: the token 2-3 begins inside another"),
        ("1-2\tZum", "1-6\tZum", "line 10: the sentence ends before word 6"),
        ("3\tHaus\t", "3\t\t", "line 6: a word without a form"),
    ],
)
def test_mistakes_are_named_with_their_line(read, old, new, said):
    assert old in GOOD
    with pytest.raises(InputError, match=rf"x\.conllu, {said}"):
        read(GOOD.replace(old, new, 1))


def test_an_empty_file(read):
    with pytest.raises(InputError, match="holds no sentence"):
        read("# text = nothing\n\n")


def test_not_utf8(tmp_path):
    path = tmp_path / "x.conllu"
    path.write_bytes(GOOD.replace("Haus", "H\u00e4us").encode("latin-1"))
    with pytest.raises(InputError, match="line 2: byte 0xe4"):
        list(read_conllu(path))


def test_real_treebanks(data_dir):
    """Every file is read to its end; a treebank's own text holds its tokens, in order."""
    for path in sorted(data_dir.glob("ud/*/*.conllu")):
        for sentence in read_conllu(path):
            assert len(sentence.words) == len(sentence.upos) == sum(sentence.sizes)
            assert set(sentence.upos) <= set(UPOS)
            assert "".join(sentence.text.split()) == "".join("".join(sentence.tokens).split()), path
