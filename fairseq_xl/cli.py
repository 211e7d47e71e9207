"""``fairseq-xl``: one command whose sub-commands are modules with ``configure(parser)`` and ``run(args)``."""

from __future__ import annotations

import argparse
import importlib
import sys

from fairseq_xl import __version__
from fairseq_xl.errors import InputError

# name: (module, what it does)
COMMANDS = {
    "vectors": ("fairseq_xl.vectors.command", "train, convert and inspect word vectors"),
    "text": ("fairseq_xl.text.command", "prepare and restore text"),
    "synthetic": ("fairseq_xl.text.synthetic_command", "generate a small parallel corpus"),
    "average": ("fairseq_xl.average", "average checkpoints"),
    "neighbours": ("fairseq_xl.continuous.inspect_command", "what lies near each predicted word"),
    "curves": ("fairseq_xl.report.curves", "plot training logs"),
    "doctor": ("fairseq_xl.doctor", "what is installed, what is missing, how to get it"),
}


def main(arguments: list[str] | None = None) -> int:
    """Run one sub-command; returns the exit status, 2 for a user's mistake."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(prog="fairseq-xl")
    parser.add_argument("--version", action="version", version=f"fairseq-xl {__version__}")
    parsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    chosen = next((argument for argument in arguments if argument in COMMANDS), None)
    for name, (module, summary) in COMMANDS.items():
        sub = parsers.add_parser(name, help=summary, description=summary)
        if name == chosen:
            # only this one is imported: the others' libraries would make `--help` slow
            importlib.import_module(module).configure(sub)
    args = parser.parse_args(arguments)
    try:
        return importlib.import_module(COMMANDS[args.command][0]).run(args) or 0
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
