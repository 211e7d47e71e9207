"""``fairseq-xl user-dir``: what to give fairseq's commands as ``--user-dir``."""

from __future__ import annotations

import argparse
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """No arguments: ``fairseq-train DATA --user-dir "$(fairseq-xl user-dir)" …``."""


def run(args: argparse.Namespace) -> None:
    """Print the folder of the installed package."""
    print(Path(__file__).resolve().parent.parent)
