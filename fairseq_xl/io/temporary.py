"""Names for what is being written."""

from __future__ import annotations

import os
import platform
import re
import shutil
from pathlib import Path

_MACHINE = platform.node().replace(".", "-") or "localhost"
_OURS = re.compile(rf"\..+\.{re.escape(_MACHINE)}\.(\d+)\.tmp")
_swept: set[Path] = set()


def temporary_name(path: Path) -> Path:
    """``.NAME.MACHINE.PROCESS.tmp`` beside ``path``.

    What killed processes of this machine left in the folder under such names is removed, once for each folder; of
    other machines, which may share the folder, nobody here knows whether they still write.
    """
    if path.parent not in _swept and path.parent.is_dir():
        _swept.add(path.parent)
        for entry in list(path.parent.iterdir()):
            ours = _OURS.fullmatch(entry.name)
            if ours and not _is_alive(int(ours[1])):
                if entry.is_dir():
                    shutil.rmtree(entry, ignore_errors=True)
                else:
                    entry.unlink(missing_ok=True)
    return path.with_name(f".{path.name}.{_MACHINE}.{os.getpid()}.tmp")


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass  # somebody else's
    return True
