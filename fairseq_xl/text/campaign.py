"""The file formats of the IWSLT evaluation campaigns: tagged training text and mteval XML.

``train.tags.fr-en.fr`` is plain text with whole lines of meta-information in tags;
``IWSLT16.TED.tst2013.fr-en.fr.xml`` holds ``<doc docid="…">`` and ``<seg id="…">`` elements, the same
ids on both sides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.parsers import expat

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_lines, refuse_pipe
from fairseq_xl.text.parallel import INNER_LINE_BREAKS

META_TAGS = (
    *("url", "description", "keywords", "talkid", "title", "speaker", "doc", "transcript"),
    *("reviewer", "translator", "xml", "mteval", "srcset", "refset", "tstset"),
)
META_LINE = re.compile(rf"<[/?]?(?:{'|'.join(META_TAGS)})\b", re.IGNORECASE)
ESCAPES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'"}
ESCAPE = re.compile("|".join(ESCAPES))
# Campaign files escape by hand and not always: an & or a < that begins no markup is text.
STRAY_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9a-fA-F]+);)")
STRAY_BRACKET = re.compile(r"<(?![/?!]?[A-Za-z-])")
# Allowed in a Python string, forbidden in XML 1.0, and never part of a sentence.
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


@dataclass(frozen=True)
class Segment:
    """One sentence of a talk: its document and segment ids, its text, and the line it stands on."""

    document: str
    segment: str
    text: str
    line: int

    @property
    def key(self) -> tuple[str, str]:
        """What aligns it with the other side."""
        return self.document, self.segment


def _one_line(text: str) -> str:
    """The text without line breaks of any kind, tabs, and space around it."""
    return INNER_LINE_BREAKS.sub(" ", text.replace("\n", " ").replace("\t", " ")).strip()


def read_tags(path: Path | str) -> Iterator[str]:
    """The sentences of a ``train.tags.*`` file: lines of meta-information are left out.

    Only a line that *begins* with a known tag is meta-information; a sentence with ``<`` in it
    stays. Raises :class:`InputError` for a missing file or invalid UTF-8.
    """
    for line in read_lines(path):
        if not META_LINE.match(line.lstrip()):
            yield ESCAPE.sub(lambda found: ESCAPES[found.group()], _one_line(line))


class _SegmentReader:
    """Collects the segments of one XML file from expat's events."""

    def __init__(self, path: Path | str) -> None:
        self.path = path
        self.parser = expat.ParserCreate(encoding="utf-8")
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        # A document type can declare entities that expand without bound or name other files.
        self.parser.StartDoctypeDeclHandler = self.refuse_document_type
        self.document: str | None = None
        self.opened: tuple[str, int] | None = None
        self.text: list[str] = []
        self.lines: dict[tuple[str, str], int] = {}
        self.segments: list[Segment] = []

    def error(self, what: str, line: int | None = None) -> InputError:
        where = self.parser.CurrentLineNumber if line is None else line
        return InputError(f"{self.path}, line {where}: {what}")

    def refuse_document_type(self, *_: object) -> None:
        raise self.error("a document type declaration, which campaign files do not have; remove it")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "doc":
            self.document = attributes.get("docid")
            if self.document is None:
                raise self.error("<doc> without a docid, which alignment needs")
        elif name == "seg":
            if self.opened is not None:
                raise self.error(f"<seg> inside the <seg> of line {self.opened[1]}")
            if self.document is None:
                raise self.error("<seg> outside any <doc>")
            if "id" not in attributes:
                raise self.error("<seg> without an id, which alignment needs")
            self.opened = attributes["id"].strip(), self.parser.CurrentLineNumber
            self.text = []

    def characters(self, text: str) -> None:
        if self.opened is not None:
            self.text.append(text)

    def end(self, name: str) -> None:
        if name == "doc":
            self.document = None
        elif name == "seg" and self.opened is not None and self.document is not None:
            segment, line = self.opened
            found = Segment(self.document, segment, _one_line("".join(self.text)), line)
            first = self.lines.get(found.key)
            if first is not None:
                raise self.error(
                    f"segment {segment} of document {self.document} again (first on line {first}); ids must be unique",
                    line,
                )
            self.lines[found.key] = line
            self.segments.append(found)
            self.opened = None

    def read(self) -> list[Segment]:
        try:
            for line in read_lines(self.path):
                line = STRAY_BRACKET.sub("&lt;", STRAY_AMPERSAND.sub("&amp;", line))
                # One line in, one line out, so that expat counts the lines of the file.
                self.parser.Parse(CONTROL.sub(" ", line).replace("\r", " ") + "\n", False)
            self.parser.Parse("", True)
        except expat.ExpatError as error:
            what = f"not well-formed XML ({expat.ErrorString(error.code)}); mend the file"
            raise self.error(what, error.lineno) from None
        if not self.segments:
            raise InputError(f"{self.path} holds no <seg>: is it a campaign file of source or target?")
        return self.segments


def read_xml(path: Path | str) -> list[Segment]:
    """The segments of a campaign XML file, in file order.

    Tolerates unescaped ``&`` and ``<`` in sentences. Entities other than XML's own five and
    character numbers are text, never expanded. Raises :class:`InputError` with file and line for
    broken markup, missing or repeated ids, a document type, or invalid UTF-8.
    """
    return _SegmentReader(path).read()


def _align_xml(source: Path | str, target: Path | str) -> Iterator[tuple[str, str]]:
    left, right = read_xml(source), read_xml(target)
    for path, segments, other_path, others in ((source, left, target, right), (target, right, source, left)):
        keys = {segment.key for segment in others}
        alone = [segment for segment in segments if segment.key not in keys]
        if alone:
            first = alone[0]
            raise InputError(
                f"{path}, line {first.line}: segment {first.segment} of document {first.document}"
                f" (and {len(alone) - 1} more) is not in {other_path}: give two sides of one set"
            )
    texts = {segment.key: segment.text for segment in right}
    for segment in left:
        yield segment.text, texts[segment.key]


def _align_tags(source: Path | str, target: Path | str) -> Iterator[tuple[str, str]]:
    left, right = list(read_tags(source)), list(read_tags(target))
    if len(left) != len(right):
        raise InputError(
            f"{source} has {len(left)} sentences and {target} has {len(right)} (lines of tags left"
            " out): the two sides of the training text need the same number"
        )
    yield from zip(left, right, strict=True)


def read_pairs(sources: Iterable[Path | str], targets: Iterable[Path | str]) -> Iterator[tuple[str, str]]:
    """The sentence pairs of campaign files, file after file.

    ``*.xml`` and ``*.xml.gz`` are read as XML and aligned by document and segment id, anything else as tagged text
    and aligned by line. Raises :class:`InputError` as :func:`read_xml` does, when the two sides
    do not match, and for a pipe that is on both.
    """
    sources, targets = list(sources), list(targets)
    if len(sources) != len(targets):
        raise InputError(f"{len(sources)} source files and {len(targets)} target files: give them in pairs")
    for path in {*sources} & {*targets}:
        refuse_pipe(path)
    for source, target in zip(sources, targets, strict=True):
        kinds = {str(path).lower().removesuffix(".gz").endswith(".xml") for path in (source, target)}
        if len(kinds) == 2:
            raise InputError(f"{source} and {target}: one is XML and the other is not")
        yield from (_align_xml if kinds.pop() else _align_tags)(source, target)
