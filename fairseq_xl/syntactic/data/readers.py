"""Parallel text as it is published: each reader yields what translates what, line by line."""

from __future__ import annotations

import re
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from fairseq_xl.io.databases import connect
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import count_lines, read_lines
from fairseq_xl.io.settings import name_and_value, option, refuse_given
from fairseq_xl.syntactic.tagging.tagged_text import kind
from fairseq_xl.text.conllu import read_conllu
from fairseq_xl.text.parallel import check_equal_counts

Link = tuple[str, str, str, str]
"""Language, sentence, language, sentence."""


@dataclass(frozen=True)
class LinkReader(ABC):
    """An input; its ``repr`` holds every setting that changes what the files yield, but not where they lie.

    Attributes:
        languages: codes of those that are read.
        files: what is read.
    """

    languages: tuple[str, ...]
    files: tuple[Path, ...] = field(repr=False)

    @property
    def name(self) -> str:
        """What it is called in messages: languages and files without their folders."""
        return " ".join(("-".join(self.languages), *(path.name for path in self.files)))

    @abstractmethod
    def __len__(self) -> int:
        """Lines to read."""

    @abstractmethod
    def links(self, start: int) -> Iterator[Link | None]:
        """One for each line from line ``start`` on (the first is 0); None where it has no pair of use."""


@dataclass(frozen=True)
class TabSeparated(LinkReader):
    """One file, a column for each of two languages; more columns (attributions) are passed over.

    Where sentences have their numbers before them, as in Tatoeba's own lists of pairs, these are passed over, too.
    """

    def __len__(self) -> int:
        return count_lines(self.files[0])

    def links(self, start: int) -> Iterator[Link]:
        (path,), (left, right) = self.files, self.languages
        for number, line in enumerate(islice(read_lines(path), start, None), start=start + 1):
            cells = line.split("\t")
            if len(cells) < 2:
                raise InputError(f"{path}, line {number}: no tab between two sentences")
            if len(cells) > 3 and cells[0].isdecimal() and cells[2].isdecimal():
                cells = cells[1::2]
            yield left, cells[0], right, cells[1]


@dataclass(frozen=True)
class LineAligned(LinkReader):
    """Two files whose lines *n* are translations of each other, as OPUS and Moses have them.

    Attributes:
        limit: read no further than this line (0: all).
        subtitles: take off what subtitles carry beside the sentence.
    """

    limit: int = 0
    subtitles: bool = False

    def __len__(self) -> int:
        lines = check_equal_counts(*self.files)
        return min(lines, self.limit) if self.limit else lines

    def links(self, start: int) -> Iterator[Link]:
        left, right = self.languages
        both = zip(*map(read_lines, self.files), strict=True)
        for one, other in islice(both, start, self.limit or None):
            if self.subtitles:
                one, other = spoken(one), spoken(other)
            yield left, one, right, other


@dataclass(frozen=True)
class Monolingual(LinkReader):
    """Sentences of one language, each linked to itself: a treebank (``.conllu``), or lines of text."""

    def __len__(self) -> int:
        return sum(1 for _ in self._sentences())

    def links(self, start: int) -> Iterator[Link]:
        (language,) = self.languages
        for text in islice(self._sentences(), start, None):
            yield language, text, language, text

    def _sentences(self) -> Iterator[str]:
        (path,) = self.files
        if kind(path) == ".conllu":
            return (sentence.text for sentence in read_conllu(path))
        return read_lines(path)


@dataclass(frozen=True)
class TatoebaExport(LinkReader):
    """Tatoeba's own two files: ``sentences.csv`` (number, language, text) and ``links.csv`` (number, number).

    ``files`` are these two, in this order.
    """

    def __len__(self) -> int:
        return count_lines(self.files[1])

    def links(self, start: int) -> Iterator[Link | None]:
        sentences, links = self.files
        with tempfile.TemporaryDirectory() as folder, closing(connect(Path(folder) / "sentences.sqlite")) as index:
            index.execute("PRAGMA synchronous = OFF")
            index.execute("CREATE TABLE sentence (id INTEGER PRIMARY KEY, language TEXT, text TEXT)")
            index.executemany("INSERT OR REPLACE INTO sentence VALUES (?, ?, ?)", self._wanted(sentences))
            query = "SELECT language, text FROM sentence WHERE id = ?"
            for number, line in enumerate(islice(read_lines(links), start, None), start=start + 1):
                ends = line.split("\t")
                if len(ends) < 2 or not all(end.isdecimal() for end in ends[:2]):
                    raise InputError(f"{links}, line {number}: not two sentence numbers separated by a tab")
                one, other = (index.execute(query, (int(end),)).fetchone() for end in ends[:2])
                yield (*one, *other) if one and other and one[0] != other[0] else None

    def _wanted(self, path: Path) -> Iterator[tuple[int, str, str]]:
        for number, line in enumerate(read_lines(path), start=1):
            cells = line.split("\t")
            if len(cells) < 3 or not cells[0].isdecimal():
                raise InputError(f"{path}, line {number}: not number, language and sentence separated by tabs")
            language = CODES.get(cells[1], cells[1])
            if language in self.languages:
                yield int(cells[0]), language, cells[2]


_CODES = """
ara:ar  bul:bg  cat:ca  ces:cs  cmn:zh  dan:da  deu:de  ell:el  eng:en  epo:eo  est:et  eus:eu
fin:fi  fra:fr  gle:ga  glg:gl  heb:he  hin:hi  hrv:hr  hun:hu  ind:id  isl:is  ita:it  jpn:ja
kor:ko  lat:la  lav:lv  lit:lt  mar:mr  nld:nl  nob:nb  nno:nn  pes:fa  pol:pl  por:pt  ron:ro
rus:ru  slk:sk  slv:sl  spa:es  srp:sr  swe:sv  tam:ta  tel:te  tha:th  tur:tr  ukr:uk  urd:ur
vie:vi  zsm:ms
"""
CODES = dict(code.split(":") for code in _CODES.split())
"""Tatoeba's codes and the shorter ones; other languages keep theirs."""


# <i>, {\an8}, ♪, (DOOR SLAMS), [music], and the name of who speaks
_MARKUP = re.compile(r"<[^<>]*>|\{[^{}]*\}|[♪♫#*]+|\([^()]*\)|\[[^\[\]]*\]|（[^（）]*）")
_DASH = re.compile(r"^\s*[-–—‐]+\s*")
_SPEAKER = re.compile(r"^[A-ZÀ-Þ][A-ZÀ-Þ .'’]+:\s+")


def spoken(line: str) -> str:
    """The words of a subtitle: no markup, no description of sounds, no speaker's name and no dash before them.

    A dash inside stays, so that a line of two speakers is recognised as two sentences.
    """
    return _SPEAKER.sub("", _DASH.sub("", _MARKUP.sub(" ", line).strip())).strip()


@dataclass(kw_only=True)
class Inputs:
    """Parallel text, as options name it."""

    pairs: list[str] = option(
        "tab-separated files with a column for each language, such as en-de=deu-eng.tsv", [], metavar="L-L=FILE"
    )
    parallel: list[str] = option(
        "line-aligned files: a prefix (PREFIX.de, PREFIX.en) or two names separated by a comma",
        [],
        metavar="L-L=PREFIX|F,F",
    )
    opensubtitles: list[str] = option(
        "the same of OpenSubtitles: markup, sounds, speakers' names and leading dashes are taken off",
        [],
        metavar="L-L=PREFIX|F,F",
    )
    subtitles_limit: int = option(
        "lines of each OpenSubtitles pair to read, as in the paper; 0 for all", 1_000_000, metavar="N", low=0
    )
    monolingual: list[str] = option(
        "sentences without translations, treebanks (.conllu) or a sentence a line; for --own-tags", [], metavar="L=FILE"
    )
    tatoeba: tuple[Path, Path] | None = option(
        "Tatoeba's export, sentences.csv and links.csv; --languages says which languages are read",
        None,
        metavar=("SENTENCES", "LINKS"),
    )
    languages: list[str] = option(
        "languages of the Tatoeba export, such as en de zh; Tatoeba's own codes are brought to these", [], metavar="L"
    )

    def readers(self) -> list[LinkReader]:
        """One for each input.

        Raises:
            InputError: an option that does not name what it should, or has no effect.
        """
        if not self.opensubtitles:
            refuse_given(self, ["subtitles_limit"], "is for --opensubtitles, which is not given")
        if not self.tatoeba:
            refuse_given(self, ["languages"], "is for --tatoeba, which is not given")
        found: list[LinkReader] = []
        for word in self.pairs:
            languages, value = _languages_and_value(word, "--pairs")
            found.append(TabSeparated(languages, (Path(value),)))
        for name, words in (("--parallel", self.parallel), ("--opensubtitles", self.opensubtitles)):
            for word in words:
                languages, value = _languages_and_value(word, name)
                files = value.split(",") if "," in value else [f"{value}.{language}" for language in languages]
                if len(files) != 2:
                    raise InputError(f"{name} {word}: give a prefix or two files")
                subtitles = name == "--opensubtitles"
                limit = self.subtitles_limit if subtitles else 0
                found.append(LineAligned(languages, tuple(map(Path, files)), limit, subtitles))
        for word in self.monolingual:
            language, value = name_and_value(word, "--monolingual")
            found.append(Monolingual((language,), (Path(value),)))
        if self.tatoeba:
            codes = {CODES.get(code, code) for code in self.languages}
            if len(codes) < 2:
                raise InputError("--tatoeba needs --languages, two or more")
            found.append(TatoebaExport(tuple(sorted(codes)), tuple(self.tatoeba)))
        return found


def _languages_and_value(word: str, name: str) -> tuple[tuple[str, str], str]:
    key, value = name_and_value(word, name)
    languages = key.split("-")
    if len(languages) != 2 or len(set(languages)) != 2 or not all(languages):
        raise InputError(f"{name} {word}: {key!r} does not name two languages, as en-de does")
    return (languages[0], languages[1]), value
