"""Imports a package of the user's own, whose models can then be loaded as the suite's."""

from __future__ import annotations

import os
import traceback
from pathlib import Path
from types import SimpleNamespace

from fairseq import utils

from fairseq_xl.io.errors import InputError


def import_user_dir(folder: str | os.PathLike[str]) -> None:
    """Import a package that registers models, tasks or criteria, as ``--user-dir`` of fairseq's commands does.

    Args:
        folder: that holds its ``__init__.py``. Its code runs: it comes from the user, never from a checkpoint.

    Raises:
        InputError: there is no such package, or importing it fails.
    """
    path = os.path.abspath(folder)
    # fairseq would look for another folder of that name beside its own modules.
    if not os.path.isfile(os.path.join(path, "__init__.py")):
        raise InputError(f"--user-dir {folder}: there is no __init__.py in it; name the folder of a Python package")
    try:
        utils.import_user_module(SimpleNamespace(user_dir=path))
    except Exception as error:
        utils.import_user_module.memo.discard(path)  # or a second call would say nothing
        own = [each for each in traceback.extract_tb(error.__traceback__) if Path(path) in Path(each.filename).parents]
        where = f" in {own[-1].filename}, line {own[-1].lineno}" if own else ""
        raise InputError(
            f"--user-dir {folder}: importing the package failed{where} ({type(error).__name__}: {error})"
        ) from error
