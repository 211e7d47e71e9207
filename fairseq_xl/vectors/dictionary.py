"""Word lists on disk: a fairseq dictionary (dict.txt), read without fairseq, and one word per line."""

from __future__ import annotations

from pathlib import Path

from fairseq_xl.io.errors import InputError

SPECIAL_TOKENS = frozenset({"<s>", "<pad>", "</s>", "<unk>"})


def is_filler(symbol: str) -> bool:
    """``madeupword0001``: what fairseq-preprocess appends, with count 0, until the size is a multiple of eight."""
    return symbol.startswith("madeupword") and symbol[10:].isdigit()


def read_dictionary(path: str | Path) -> dict[str, int]:
    """Word -> count, in the file's order, of lines ``word count``.

    Padding words (``madeupword0001 0``) and special tokens are left out: they have no vectors.
    Raises InputError for a missing or empty file and for a line that fairseq could not load.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} is a directory, not a dictionary file (dict.*.txt)")
    if not path.exists():
        raise InputError(f"there is no dictionary file at {path}")
    counts: dict[str, int] = {}
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            try:
                text = line.decode().rstrip()
            except UnicodeDecodeError as error:
                raise InputError(f"{path}, line {number} is not valid UTF-8") from error
            text = text.removesuffix(" #fairseq:overwrite")
            word, _, count = text.rpartition(" ")
            if not word or not count.isdecimal() or len(count) > 18:
                raise InputError(f"{path}, line {number}: expected 'word count', found {text!r}")
            if word in SPECIAL_TOKENS or (is_filler(word) and int(count) == 0):
                continue
            if word in counts:
                raise InputError(f"{path}, line {number}: the word {word!r} is there a second time")
            counts[word] = int(count)
    if not counts:
        raise InputError(f"{path} holds no words")
    return counts
