"""Files that are damaged, foreign or hostile: each is read, or refused in one sentence.

scripts/fuzz.py goes on for as long as one likes.
"""

from __future__ import annotations

import gzip
import random
import re
import time
from pathlib import Path

import parsers
import pytest
import spoiling

from fairseq_xl.io.errors import InputError

ROOT = Path(__file__).resolve().parent.parent

NAMES = sorted(parsers.PARSERS)


@pytest.mark.parametrize("name", NAMES)
def test_the_good_file_is_read(name: str, tmp_path: Path) -> None:
    parser = parsers.PARSERS[name]
    parser.check(tmp_path, parser.good)


@pytest.mark.parametrize("name", NAMES)
def test_spoilt_files_are_read_or_refused_in_a_sentence(name: str, tmp_path: Path) -> None:
    parser, draw = parsers.PARSERS[name], random.Random(name)
    until = time.process_time() + 3
    for _ in range(30):
        content = spoiling.spoil(parser.good, draw)
        why = parser.fault(tmp_path, content)
        assert why is None, f"{content[:500]!r}: {why}"
        if time.process_time() > until:
            break


def flipped(name: str, at: int) -> bytes:
    content = bytearray(parsers.PARSERS[name].good)
    content[at] ^= 64
    return bytes(content)


DEEP = b'{"a":' * 100_000
LONG = b"x" * 200_000
# What spoilt files have brought to light: a traceback, a sentence of 200,000 characters or of several lines each.
FOUND = [
    *((name, DEEP) for name in NAMES if parsers.PARSERS[name].file.endswith((".json", ".jsonl", ".yaml"))),
    ("a manifest", b"[]"),
    ("the manifest of pairs", b'{"version": 1}'),
    ("the manifest of pairs", b'{"version": 1, "tokenizer": {"x": 1}, "folds": 2}'),
    ("the manifest of texts", b'{"version": 1, "classes": 5}'),
    (
        "the manifest of tagged sentences",
        parsers.PARSERS["the manifest of tagged sentences"].good.replace(b"spm", LONG),
    ),
    ("an experiment", b"seeds: [" + b"9" * 5000 + b"]"),
    ("prepared pairs", b"id\na:1\t1\t0\t0\t1\ta b"),
    ("prepared pairs", b"id\na:1\tx\t0\t0\t1\ta\tb\tc\td"),
    ("prepared texts", b"neg"),
    ("prepared texts", b"neutral\tso so"),
    ("prepared texts", b"pos\tgood\n"),
    ("gzipped lines", gzip.compress(b"a" * 99, mtime=0)[:12] + b"\xff" * 20),
    (
        "a zip archive",
        parsers.PARSERS["a zip archive"].good.replace(b"PK\x01\x02\x14\x03\x14", b"PK\x01\x02\x14\x03\xff"),
    ),
    ("a tar archive", b"no archive"),
    ("an array of vectors", parsers.PARSERS["an array of vectors"].good.replace(b"}", b"(")),
    ("text vectors", b"a 1 2\nb 1\x0b2 3\n"),
    ("a dictionary", b"the " + b"9" * 5000),
    ("a lexicon", LONG),
    ("a checkpoint", b"\x80\x02H."),
    # Buckets, the greatest length of subwords, entries, words, labels, how many were pruned.
    *(("a fastText model", flipped("a fastText model", at)) for at in (40, 42, 43, 50, 64, 68, 70, 72)),
    ("a fastText model", parsers.PARSERS["a fastText model"].good.replace(b"\xff" * 8, b"\xff" * 7 + b"\x3f")),
]


@pytest.mark.parametrize(("name", "content"), FOUND, ids=[f"{name} {n}" for n, (name, _) in enumerate(FOUND)])
def test_what_was_found_once_is_refused(name: str, content: bytes, tmp_path: Path) -> None:
    parser = parsers.PARSERS[name]
    assert parser.fault(tmp_path, content) is None
    with pytest.raises(InputError):
        parser.check(tmp_path, content)


def test_the_script_tries_every_parser_and_keeps_what_breaks_one(forks, tmp_path: Path) -> None:
    options = ["files", "--output", tmp_path / "out", "--minutes", "0.001"]
    done = forks.run("python-script", ROOT / "scripts" / "fuzz.py", *options)
    assert done.returncode == 0, done.stderr[-2000:]
    # As many rounds as the time allows, each of all parsers.
    said = re.fullmatch(r"(\d+) files for (\d+) parsers, 0 faults\n", done.stdout)
    assert said, done.stdout
    assert int(said[2]) == len(NAMES)
    assert int(said[1]) % len(NAMES) == 0
    assert not (tmp_path / "out").exists()
    broken = tmp_path / "broken.py"
    broken.write_text(
        "import runpy, sys\nfrom fairseq_xl.io import lines\n"
        "def broken(*_):\n    raise KeyError('oops')\n"
        "lines.read_lines = broken\n"
        f"runpy.run_path({str(ROOT / 'scripts' / 'fuzz.py')!r}, run_name='__main__')\n"
    )
    done = forks.run("python-script", broken, *options, "--only", "lines")
    assert done.returncode == 1, done.stderr[-2000:]
    assert "KeyError: 'oops'" in (tmp_path / "out" / "lines" / "1" / "why.txt").read_text()
    assert (tmp_path / "out" / "lines" / "1" / "a.txt").is_file()
