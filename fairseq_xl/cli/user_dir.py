"""``fairseq-xl user-dir``: what to give fairseq's commands as ``--user-dir``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass
class UserDir:
    """Print the folder of the installed package: fairseq-train DATA --user-dir "$(fairseq-xl user-dir)" …"""

    def run(self) -> None:
        print(Path(__file__).resolve().parent.parent)
