from __future__ import annotations

from pathlib import Path

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.tagging.tagged_text import read_evaluation_file, read_treebank


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_an_evaluation_file_is_read_row_by_row(tmp_path: Path) -> None:
    path = written(tmp_path / "de.tsv", 'text\tupos\n"Ja", sagt er.\tINTJ PUNCT\n\tNOUN CONJ\n')
    text = read_evaluation_file(path)
    assert text.language == "de"
    assert text.texts == ['"Ja", sagt er.', ""]  # an empty sentence stays a row
    assert text.upos == [("INTJ", "PUNCT"), ("NOUN", "CCONJ")]
    assert text.numbers == []
    assert len(text) == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "holds no sentence"),
        ("text\tupos\n", "holds no sentence"),
        ("Ja.\tINTJ PUNCT\n", "line 1: there is no column 'text' among Ja., INTJ PUNCT"),
        ("text\tupos\nJa.\n", "line 2: 1 columns where the first line has 2"),
        ("text\tupos\nJa.\t \n", "line 2: the sentence has no tags"),
        ("text\tupos\nJa.\tINTJ\tx\n", "line 2: 3 columns where the first line has 2"),
        ("text\tupos\nJa.\tINTJ\nJa.\tUH\n", "line 3 has the tag 'UH', which is none of the 17"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_evaluation_file(written(tmp_path / "de.tsv", content))


def test_other_encodings_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "de.tsv"
    path.write_bytes("text\tupos\nschön\tADJ\n".encode("latin-1"))
    with pytest.raises(InputError, match="line 2: byte 0xf6 is not valid UTF-8"):
        read_evaluation_file(path)


def conllu(*sentences: tuple[str, str]) -> str:
    heads = (f"# sent_id = {number}" if number else "# none" for number, _ in sentences)
    rows = (f"1\t{word}\t_\tX" + "\t_" * 6 for _, word in sentences)
    blocks = (f"{head}\n{row}" for head, row in zip(heads, rows, strict=True))
    return "\n\n".join(blocks) + "\n\n"


def test_a_treebank_keeps_its_numbers(tmp_path: Path) -> None:
    text = read_treebank(written(tmp_path / "a.conllu", conllu(("n1", "a"), ("n2", "b"))), "de")
    assert (text.language, text.texts, text.upos, text.numbers) == ("de", ["a", "b"], [("X",), ("X",)], ["n1", "n2"])


def test_a_treebank_without_numbers_is_not_parallel(tmp_path: Path) -> None:
    text = read_treebank(written(tmp_path / "a.conllu", conllu(("n1", "a"), ("", "b"))), "de")
    assert text.numbers == []


def test_a_repeated_number_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="two sentences with sent_id 'n1'"):
        read_treebank(written(tmp_path / "a.conllu", conllu(("n1", "a"), ("n1", "b"))), "de")
