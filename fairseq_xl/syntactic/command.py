"""``fairseq-xl syntactic``: a table of sub-commands, of which only the chosen one's module is imported."""

from __future__ import annotations

import argparse
import importlib

# name -> (module with configure(parser) and run(args), one line of help)
SUBCOMMANDS = {
    "tagger": ("fairseq_xl.syntactic.tagger_command", "train, test and use part-of-speech taggers"),
    "prepare": ("fairseq_xl.syntactic.prepare_command", "from parallel text to tagged, binarised training data"),
    "statistics": ("fairseq_xl.syntactic.statistics_command", "count the pairs of languages of a corpus"),
    "build-eval": ("fairseq_xl.syntactic.build_eval_command", "hold out groups of sentences with the same tags"),
    "evaluate": ("fairseq_xl.syntactic.evaluate_command", "score sentence embeddings by the syntax that they carry"),
    "tables": ("fairseq_xl.syntactic.tables_command", "one table from the records of several evaluations"),
    "map": ("fairseq_xl.syntactic.map_command", "draw embeddings in two dimensions, coloured by tag sequence"),
}


class _Chosen(argparse.Action):
    """Hands the words after a sub-command to that sub-command's own parser."""

    def __call__(self, parser, namespace, values, option_string=None) -> None:
        name, *words = values
        if name not in SUBCOMMANDS:
            parser.error(f"there is no {parser.prog} {name!r}: choose from {', '.join(SUBCOMMANDS)}")
        module = importlib.import_module(SUBCOMMANDS[name][0])
        own = argparse.ArgumentParser(prog=f"{parser.prog} {name}", description=SUBCOMMANDS[name][1])
        module.configure(own)
        own.parse_args(words, namespace)
        namespace.chosen = module.run


def configure(parser: argparse.ArgumentParser) -> None:
    """List the sub-commands in the help of ``fairseq-xl syntactic``."""
    width = max(map(len, SUBCOMMANDS))
    listing = "\n".join(f"  {name:{width}}  {text}" for name, (_, text) in SUBCOMMANDS.items())
    parser.epilog = f"commands:\n{listing}\n\n`{parser.prog} COMMAND --help` explains one."
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.usage = f"{parser.prog} [-h] COMMAND …"
    parser.add_argument("command", nargs=argparse.PARSER, action=_Chosen, help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int | None:
    """Run the chosen sub-command."""
    return args.chosen(args)
