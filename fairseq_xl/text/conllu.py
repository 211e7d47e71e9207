"""Gold part-of-speech tags: the sentences of a CoNLL-U file, as Universal Dependencies publishes treebanks.

https://universaldependencies.org/format.html. A line is a word of ten columns. The number ``3-4`` is a written token
that stands for the words 3 and 4 (German *zum* = *zu dem*). The number ``8.1`` is a word that was left out, which has
no place in the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_lines

UPOS = (
    *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN"),
    *("NUM", "PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X"),
)
"""The universal tags, version 2."""
OLDER_NAMES = {"CONJ": "CCONJ"}  # version 1; its CONJ never marked subordination, which was SCONJ then, too
_COLUMNS = 10


@dataclass(frozen=True)
class Sentence:
    """A sentence of n words in m written tokens.

    Attributes:
        text: as written: the comment ``# text``, or else the tokens with the spaces that ``SpaceAfter`` leaves.
        words: (n) syntactic words, contractions taken apart.
        upos: (n) their tags, each one of :data:`UPOS`.
        tokens: (m) what is written.
        sizes: (m) how many words each token stands for.
    """

    sent_id: str
    text: str
    words: tuple[str, ...]
    upos: tuple[str, ...]
    tokens: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()


@dataclass
class _Draft:
    """A sentence while its lines are read."""

    sent_id: str = ""
    text: str | None = None
    words: list[str] = field(default_factory=list)
    upos: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    spaces: list[str] = field(default_factory=list)
    inside: int = 0
    """Number of the last word that an earlier line ``a-b`` announced."""

    def finished(self) -> Sentence:
        pieces = (token + space for token, space in zip(self.tokens, self.spaces, strict=True))
        text = " ".join((self.text or "".join(pieces)).split())
        words, upos, tokens = tuple(self.words), tuple(self.upos), tuple(self.tokens)
        return Sentence(self.sent_id, text, words, upos, tokens, tuple(self.sizes))


def universal(tag: str, whose: str) -> str:
    """The version 2 name of a universal tag.

    Raises:
        InputError: it is no such tag; ``whose`` says who has it.
    """
    known = OLDER_NAMES.get(tag, tag)
    if known not in UPOS:
        raise InputError(f"{whose} has the tag {tag!r}, which is none of the 17 universal tags")
    return known


def read_conllu(path: Path | str) -> Iterator[Sentence]:
    """Yield the sentences of a file, one after the other.

    Raises:
        InputError: no such file, not UTF-8, not CoNLL-U, a tag that is none of the 17, or no sentence at all. The
            message names file and line. ``CONJ`` of version 1 is read as ``CCONJ``.
    """
    draft, found = _Draft(), False
    # The blank line that should end the last sentence is often missing.
    for number, line in enumerate(chain(read_lines(path), [""]), start=1):
        if not line.strip():
            if draft.words:
                if draft.inside > len(draft.words):
                    raise InputError(
                        f"{path}, line {number}: the sentence ends before word {draft.inside}, which its last token "
                        "announces"
                    )
                yield draft.finished()
                found = True
            draft = _Draft()
        elif line.startswith("#"):
            name, _, value = line[1:].partition("=")
            if name.strip() == "sent_id":
                draft.sent_id = value.strip()
            elif name.strip() == "text":
                draft.text = value.strip()
        else:
            _add(draft, line.split("\t"), f"{path}, line {number}")
    if not found:
        raise InputError(f"{path} holds no sentence: give a CoNLL-U file")


def _add(draft: _Draft, cells: list[str], place: str) -> None:
    """Take a word's or a token's line into the draft."""
    if len(cells) != _COLUMNS:
        raise InputError(f"{place}: {len(cells)} columns separated by tabs where CoNLL-U has {_COLUMNS}")
    number, form, tag, misc = cells[0], cells[1], cells[3], cells[9]
    space = "" if "SpaceAfter=No" in misc.split("|") else " "
    first, hyphen, last = number.partition("-")
    if not form:
        raise InputError(f"{place}: a word without a form")
    if hyphen:
        if not (first.isdecimal() and last.isdecimal() and len(draft.words) + 1 == int(first) < int(last) + 1):
            raise InputError(f"{place}: the token {number} does not follow word {len(draft.words)}")
        if draft.inside > len(draft.words):
            raise InputError(f"{place}: the token {number} begins inside another")
        draft.inside = int(last)
        draft.sizes.append(int(last) - int(first) + 1)
    elif "." in number:
        return
    else:
        if number != str(len(draft.words) + 1):
            raise InputError(f"{place}: word {number!r} does not follow word {len(draft.words)}")
        draft.words.append(form)
        draft.upos.append(universal(tag, f"{place}: {form!r}"))
        if draft.inside >= len(draft.words):
            return
        draft.sizes.append(1)
    draft.tokens.append(form)
    draft.spaces.append(space)
