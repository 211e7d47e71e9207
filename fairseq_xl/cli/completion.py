"""``fairseq-xl completion``: a script for the shell that completes commands, options and file names."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.cli.parsing import Table, add_options, load
from fairseq_xl.io.settings import argument


@dataclass
class Completion:
    """Print a script that lets a shell complete fairseq-xl's commands, options and file names.

    bash: fairseq-xl completion bash >~/.local/share/bash-completion/completions/fairseq-xl; zsh: into a file
    _fairseq-xl in a folder of $fpath; tcsh: source it.
    """

    shell: str = argument("the shell to make it for", choices=("bash", "zsh", "tcsh"))

    def run(self) -> None:
        import shtab

        from fairseq_xl.cli.main import COMMANDS

        parser = argparse.ArgumentParser(prog="fairseq-xl")
        add_commands(parser, COMMANDS, shtab.FILE)
        print(shtab.complete(parser, self.shell))


def add_commands(parser: argparse.ArgumentParser, table: Table, file: object) -> None:
    """Every command of a table as a parser below ``parser``; options that take a path complete with ``file``."""
    subparsers = parser.add_subparsers()
    for word, (place, text) in table.items():
        found = load(place)
        below = subparsers.add_parser(word, help=text.replace("%", "%%"))
        if isinstance(found, Mapping):
            add_commands(below, found, file)
            continue
        for action in add_options(below, found):
            if action.type is Path:
                vars(action)["complete"] = file
