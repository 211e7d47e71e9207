"""Folders that appear complete or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fairseq_xl.errors import InputError


@contextmanager
def replacing_folder(output: Path, mark: str, what: str) -> Iterator[Path]:
    """A temporary folder beside ``output``, which takes its place when the block ends without an error.

    Args:
        output: new, empty, or a folder that holds a file called ``mark``, as only what wrote it has.
        mark: see there.
        what: what the folder is, in messages: "a model".

    Raises:
        InputError: ``output`` is or holds something else, or the folder cannot be written.
    """
    if output.exists() and not output.is_dir():
        raise InputError(f"{output} is a file: name a folder")
    if output.is_dir() and not (output / mark).is_file() and any(output.iterdir()):
        raise InputError(f"{output} holds something else than {what}: name another folder")
    temporary = output.with_name(output.name + ".tmp")
    replaced = output.with_name(output.name + ".old")
    try:
        shutil.rmtree(temporary, ignore_errors=True)  # of a run that was killed
        temporary.mkdir(parents=True)
        yield temporary
        shutil.rmtree(replaced, ignore_errors=True)
        if output.exists():
            os.rename(output, replaced)
        os.rename(temporary, output)
        shutil.rmtree(replaced, ignore_errors=True)
    except OSError as error:
        raise InputError(f"cannot write {output}: {error}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
