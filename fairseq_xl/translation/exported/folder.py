"""An export's folder.

    export.json       languages, text steps, default options, what is folded in, checksums (:class:`Export`)
    model.bin, config.json, source_vocabulary.json, target_vocabulary.json  CTranslate2's own
    truecaser.SOURCE, subwords.SOURCE.model  as in a model folder
    folding.npz       the target table and what it was folded with, to fold another in its place; translating does
                      without it

``fairseq-xl translate export`` writes one; whatever translates reads it. Nothing here needs torch.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fairseq_xl.io.atomic import write_json
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import check_files, digest, read_manifest
from fairseq_xl.translation.exported.options import COMPUTE_TYPES
from fairseq_xl.translation.folder import STEP_ENTRIES, TextSteps, refuse_outside

CONFIG = "export.json"
FOLDING = "folding.npz"
VERSION = 3
"""Raised when an older version of this package could not read what is written now."""
COMMAND = "fairseq-xl translate export"

_ENTRIES: dict[str, type] = {
    **STEP_ENTRIES,
    **{"architecture": dict, "folded": dict, "compute_type": str, "positions": list, "options": dict},
    "files": dict,
}


@dataclass(frozen=True, kw_only=True)
class Export(TextSteps):
    """What ``export.json`` says.

    architecture: sizes and options of the Transformer (:mod:`fairseq_xl.translation.exported.spec`)
    folded: the options that the output layer holds, which can no longer be chosen: ``decode_score``,
        ``decode_prior_weight``, ``temperature`` and ``unkpen``
    compute_type: of the weights, ``float32`` or ``int8``
    positions: of the source and of the target, the end of the sentence included
    options: defaults of :class:`fairseq_xl.translation.options.Decoding`, by name
    files: SHA-256 of each file beside it
    """

    architecture: dict[str, Any]
    folded: dict[str, Any]
    compute_type: str
    positions: list[int]
    options: dict[str, Any] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raises: InputError: a value that is none of those there are."""
        super().__post_init__()
        if self.compute_type not in COMPUTE_TYPES:
            raise InputError(f"compute_type is one of {', '.join(COMPUTE_TYPES)}, not {self.compute_type!r}")
        if self.folded.keys() != FOLDED:
            raise InputError(
                f"folded has {', '.join(sorted(FOLDED))}, and here it has {', '.join(self.folded) or 'nothing'}"
            )
        refuse_outside(self.options)
        if len(self.positions) != 2 or not all(isinstance(one, int) and one > 1 for one in self.positions):
            raise InputError(f"positions are two numbers above 1, not {self.positions!r}")


FOLDED = {"decode_score", "decode_prior_weight", "temperature", "unkpen"}
"""Options that an output layer holds."""


def is_export(folder: Path) -> bool:
    """Whether a folder is an export, whole or damaged, rather than a model folder."""
    return any((folder / name).exists() for name in (CONFIG, "model.bin"))


def write_export(folder: Path, export: Export) -> None:
    """Write ``export.json``, with the checksums of all that lies there."""
    files = {path.name: digest(path) for path in sorted(folder.iterdir())}
    write_json(folder / CONFIG, {"version": VERSION, **asdict(export), "files": files}, indent=2, ensure_ascii=False)


def read_export(folder: Path, folding: bool = False) -> Export:
    """Read ``export.json`` and see that every file it speaks of is there and as it was written.

    Args:
        folder: see above.
        folding: ask for ``folding.npz``, too.

    Raises:
        InputError: no export, a damaged one or one of another version; a missing or another file.
    """
    values = read_manifest(folder / CONFIG, VERSION, COMMAND, **_ENTRIES)
    try:
        export = Export(**{name: values[name] for name in _ENTRIES})
    except InputError as error:
        raise InputError(f"{folder / CONFIG} is damaged ({error}): export the model again") from None
    needed = {"model.bin", "config.json", *export.step_files(), *export.files} - ({FOLDING} if not folding else set())
    check_files(folder, {name: export.files.get(name) for name in sorted(needed)}, "the export")
    return export


def source_words(folder: Path) -> list[str]:
    """The source dictionary of an export, special tokens included."""
    # CTranslate2 writes one file where both sides' are the same.
    path = next(path for name in ("source", "shared") if (path := folder / f"{name}_vocabulary.json").is_file())
    words: list[str] = json.loads(path.read_text(encoding="utf-8"))
    return words
