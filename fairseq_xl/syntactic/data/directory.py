"""What a data directory holds: ``manifest.json`` names its pairs, languages and dictionaries.

manifest.json                        :class:`Manifest`
sentencepiece.model                  cuts raw text into the pieces of dict.source.txt
dict.source.txt, dict.upos.txt       fairseq dictionaries
SPLIT.SRC-TGT.source.{bin,idx}       pieces of the source sentences; SPLIT is train or valid
SPLIT.SRC-TGT.upos.{bin,idx}         tags of the target sentences, where the pair is tagged
SPLIT.SRC-TGT.pieces.{bin,idx}       pieces of the target sentences
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairseq_xl.io import folders
from fairseq_xl.io.errors import InputError

MANIFEST = "manifest.json"
VERSION = 1
TARGETS = ("upos", "pieces")

_COMMAND = "fairseq-xl embed prepare"
_PREPARE = f"make it with {_COMMAND}"


@dataclass(frozen=True)
class Pair:
    """Sentences of one language with translations in another."""

    source: str
    target: str
    sentences: dict[str, int]
    """by split"""
    tagged: bool
    """whether the target side has UPOS tags"""

    def __str__(self) -> str:
        return f"{self.source}-{self.target}"

    def prefix(self, split: str) -> str:
        return f"{split}.{self}"


@dataclass(frozen=True)
class Manifest:
    """What ``manifest.json`` says; names are of files in the folder."""

    sentencepiece: str
    source_dictionary: str
    targets: dict[str, str]
    """target kind -> dictionary"""
    languages: tuple[str, ...]
    """target languages; the position is the language's number"""
    pairs: tuple[Pair, ...]

    def chosen(self, target: str, wanted: Sequence[str] = ()) -> tuple[Pair, ...]:
        """The pairs that have a target side of this kind, or those of them that are wanted, in the folder's order.

        Raises:
            InputError: a pair that is not there, or is there without tags; none at all.
        """
        usable = {str(pair): pair for pair in self.pairs if target != "upos" or pair.tagged}
        known = [str(pair) for pair in self.pairs]
        for name in wanted:
            if name not in known:
                raise InputError(f"there is no pair {name!r} in the data, only {', '.join(known)}")
            if name not in usable:
                raise InputError(f"the target side of {name} has no UPOS tags: leave that pair out")
        if not usable:
            raise InputError(f"no pair of the data has a target side of the kind {target!r}")
        return tuple(pair for name, pair in usable.items() if not wanted or name in wanted)


def read_manifest(folder: Path | str) -> Manifest:
    """Read a data directory's manifest.

    Raises:
        InputError: no data directory, a damaged manifest or one of another version, a dictionary that is not there.
    """
    path = Path(folder) / MANIFEST
    kinds: dict[str, type] = {"sentencepiece": str, "source_dictionary": str, "targets": dict}
    values = folders.read_manifest(path, VERSION, _COMMAND, **kinds, languages=list, pairs=list)
    try:
        pairs = tuple(map(_pair, values["pairs"]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} is damaged ({type(error).__name__}: {error}): {_PREPARE}") from None
    languages = tuple(map(str, values["languages"]))
    manifest = Manifest(**{name: values[name] for name in kinds}, languages=languages, pairs=pairs)
    foreign = [str(pair) for pair in pairs if pair.target not in manifest.languages]
    if foreign:
        raise InputError(f"{path} lists pairs into languages that it does not name: {', '.join(foreign)}")
    for name in (manifest.sentencepiece, manifest.source_dictionary, *manifest.targets.values()):
        if Path(str(name)).name != name or len(name) > 255 or not (path.parent / name).is_file():
            raise InputError(f"{path.parent} lacks {name}, which its {MANIFEST} names: {_PREPARE}")
    return manifest


def _pair(entry: dict[str, Any]) -> Pair:
    named = ("source", "target", "upos")
    sentences = {split: int(count) for split, count in entry.items() if split not in named}
    return Pair(str(entry["source"]), str(entry["target"]), sentences, entry.get("upos") is not False)
