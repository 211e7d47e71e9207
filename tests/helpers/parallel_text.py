"""Small parallel texts, as files and as fairseq-preprocess writes them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import in_process


def write(folder: Path, **splits: Iterable[tuple[str, str]]) -> None:
    """``write(FOLDER, train=[("ein Hund", "a dog"), …])`` writes train.de and train.en."""
    for split, pairs in splits.items():
        for language, lines in zip(("de", "en"), zip(*pairs, strict=True), strict=True):
            (folder / f"{split}.{language}").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def prepare(folder: Path, **splits: Iterable[tuple[str, str]]) -> Path:
    """The same, and FOLDER/bin as fairseq-preprocess makes it of the files, which is returned."""
    write(folder, **splits)
    files = " ".join(f"--{split}pref {folder}/{split}" for split in splits)
    in_process.preprocess(f"-s de -t en {files} --destdir {folder}/bin --workers 1")
    return folder / "bin"
