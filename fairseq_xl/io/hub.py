"""Folders by their name on the Hugging Face Hub."""

from __future__ import annotations

import os
import re
from pathlib import Path

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.packages import require

_NAME = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95})(?:@(?P<revision>[\w./-]+))?")


def local_folder(name: str | Path) -> Path:
    """The folder of that name: one of this machine, or else ``OWNER/MODEL[@REVISION]`` of the Hub, downloaded once.

    ``HF_ENDPOINT``, ``HF_HOME`` and ``HF_HUB_OFFLINE`` mean what they mean to huggingface_hub. What is no name of the
    Hub comes back as it is.

    Raises:
        InputError: such a name that is no folder here, and which the Hub does not have or cannot be asked for.
    """
    found = _NAME.fullmatch(str(name))
    if found is None or Path(name).exists():
        return Path(name)
    hub = require("huggingface_hub", "hub", f"there is no folder {name}, and to look for it on the Hub")
    try:
        return Path(
            hub.snapshot_download(found["name"], revision=found["revision"], endpoint=os.environ.get("HF_ENDPOINT"))
        )
    except (OSError, ValueError, RuntimeError) as error:  # what huggingface_hub and its HTTP client derive from
        reason = str(error).strip().split("\n")[0] or type(error).__name__
        raise InputError(
            f"there is no folder {name}, and the Hub does not give a model of that name ({reason}): check the name"
        ) from None
