"""``fairseq-xl translate text``: lines in, lines out."""

from __future__ import annotations

import io
import os
from types import SimpleNamespace

import pytest

from fairseq_xl.cli import main as cli


@pytest.fixture
def translate(packed, monkeypatch, capsys):
    """``translate("line\\n", "--beam", 2)`` runs the command; gives status, output and messages."""

    def run(text: bytes | str | object, *arguments: object, name: str = "continuous"):
        data = text.encode() if isinstance(text, str) else text
        buffer = io.BytesIO(data) if isinstance(data, bytes) else data
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=buffer, isatty=lambda: False))
        status = cli.main(["translate", "text", str(packed / name), "--device", "cpu", *map(str, arguments)])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


def test_lines_go_from_standard_input_to_standard_output(translate, load, raw):
    text = "\n".join([*raw[:3], "", *raw[3:]])  # and no newline at the end
    expected = load("continuous").translate(raw)
    lines = [*expected[:3], "", *expected[3:]]
    assert translate(text) == (0, "".join(line + "\n" for line in lines), "")
    assert translate(text, "--block-lines", 2)[1].splitlines() == lines
    assert translate("") == (0, "", "")
    # A pipe named as a file, as a shell's <(…) is, holds its lines once.
    there, here = os.pipe()
    os.write(here, text.encode())
    os.close(here)
    assert translate("", "--input", f"/dev/fd/{there}")[1].splitlines() == lines
    os.close(there)


def test_n_best_and_alignment_have_their_columns(translate, load, raw):
    status, out, _ = translate("\n".join(["", *raw[:2]]), "--n-best", 2, "--alignment", "--beam", 3)
    assert status == 0
    rows = [line.split("\t") for line in out.splitlines()]
    assert rows[0] == ["1", "0.0000", "", "", "", ""]
    assert [row[0] for row in rows[1:]] == ["2", "2", "3", "3"]
    found = load("continuous", beam=3).candidates(raw[:2], n_best=2)
    for row, one in zip(rows[1:], [one for best in found for one in best], strict=True):
        assert row[1:4] == [f"{one.score:.4f}", one.text, " ".join(one.source)]
        assert row[4] == " ".join(one.tokens)
        assert row[5] == " ".join(f"{i}-{j}" for j, i in enumerate(one.alignment))


def test_a_file_appears_when_it_is_complete(translate, work, raw, tmp_path):
    output = tmp_path / "new" / "hyp.en"
    status, out, _ = translate(
        b"", "--input", work / "test.de", "--output", output, "--max-len-b", 2, "--decode-scale", 5
    )
    assert (status, out) == (0, "")
    assert len(output.read_text().splitlines()) == len(raw)
    output.write_text("before")
    bad = b"\n".join([line.encode() for line in raw[:4]] + [b"sch\xf6n"])
    status, _, err = translate(bad, "--output", output, "--block-lines", 2)
    assert status == 2
    assert err.startswith("error: standard input, line 5: byte 0xf6 is not valid UTF-8")
    assert output.read_text() == "before"
    assert [path.name for path in output.parent.iterdir()] == ["hyp.en"]


def test_an_answer_comes_before_the_next_question(translate, monkeypatch, raw, load):
    answers, pipe = [], io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(pipe))

    def ask():
        for line in raw[:3]:
            yield f"{line}\n".encode()
            answers.append(pipe.getvalue().decode())

    assert translate(ask(), "--block-lines", 1)[0] == 0
    lines = [f"{line}\n" for line in load("continuous").translate(raw[:3])]
    assert answers == ["".join(lines[: n + 1]) for n in range(3)]


def test_long_lines_are_named(translate):
    long = "Hund " * 1030
    status, out, err = translate(f"Hund\n{long}\n\n{long}\n", "--block-lines", 3, "--max-len-b", 3)
    assert status == 0
    assert len(out.splitlines()) == 4
    assert err == "".join(
        f"warning: one line is too long for the model, and only the first 1023 tokens were translated: line {number}\n"
        for number in (2, 4)
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--input", "absent"], "there is no file absent"),
        (["--seed", 10**30], "--seed is 1000000000000000000000000000000: give a number from 0 to"),
        (["--seed", -1], "--seed is -1: give a number from 0"),
        (["--decode-score", "cosine", "--lexicon", "x"], "lexicon says what replace_unk does: give that, too"),
        (["--block-lines", 0], "--block-lines is 0"),
        (["--n-best", 0], "0 translations of each sentence"),
        (["--n-best", 3, "--beam", 2], "3 translations of each sentence cannot be had from a beam of 2"),
        (["--output", "."], "cannot write .: it is a directory"),
    ],
)
def test_mistakes_are_told_in_one_sentence(translate, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, out, err = translate("Hund\n", *arguments)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert message in err
    assert err.count("\n") == 1
