"""``fairseq-xl``: a table of sub-commands, of which only the chosen one's module is imported."""

from __future__ import annotations

import argparse
import difflib
import errno
import importlib
import os
import sys
from collections.abc import Sequence

from fairseq_xl import __version__
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.terminal import InertTerminal, inert

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What the system says of a disk, a share of it or a file that can hold no more."""

# name -> (module with configure(parser) and run(args), one line of help)
COMMANDS = {
    "vectors": ("fairseq_xl.cli.vectors.command", "train, convert and inspect word vectors"),
    "text": ("fairseq_xl.cli.data.text", "tokenise, truecase, filter and make parallel text"),
    "synthetic": ("fairseq_xl.cli.data.synthetic", "generate a small parallel corpus with a grammar"),
    "experiment": ("fairseq_xl.cli.experiment.command", "run systems × seeds through a recipe, and report"),
    "pack": (
        "fairseq_xl.cli.translate.pack",
        "put a trained model and all that translating needs into one folder",
    ),
    "translate": ("fairseq_xl.cli.translate.text", "translate raw text with such a folder"),
    "encode": ("fairseq_xl.cli.embed.text", "turn lines of raw text into vectors"),
    "encoder": (
        "fairseq_xl.cli.embed.encoder",
        "pack a sentence encoder into one folder, export it to ONNX, or make an untrained one",
    ),
    "lexicon": ("fairseq_xl.cli.data.lexicon", "word translations from parallel text"),
    "average": ("fairseq_xl.training.averaging", "average the weights of checkpoints"),
    "neighbours": (
        "fairseq_xl.cli.translate.nearest",
        "show the words nearest to each vector that a model predicts",
    ),
    "diagnose": (
        "fairseq_xl.cli.translate.diagnose",
        "measure how near a model's vectors come to their targets, and what its negatives are",
    ),
    "tune-decoding": (
        "fairseq_xl.cli.translate.tune",
        "choose decoding options of a model on the development set",
    ),
    "siamese": ("fairseq_xl.cli.classify.command", "classify text of a poor language with the labels of a rich one"),
    "corpus": (
        "fairseq_xl.cli.corpus.command",
        "build a corpus of similar and dissimilar sentence pairs from a bilingual website",
    ),
    "pairs": (
        "fairseq_xl.cli.match.command",
        "decide whether two sentences mean the same; mint, repair and search questions",
    ),
    "curves": ("fairseq_xl.cli.experiment.curves", "plot the training curves in fairseq's logs"),
    "record": ("fairseq_xl.report.record", "write down what a run was and what it scored"),
    "syntactic": ("fairseq_xl.cli.embed.command", "data and evaluation of sentence embeddings that carry syntax"),
    "user-dir": ("fairseq_xl.cli.user_dir", "print the path to pass to fairseq's --user-dir"),
    "doctor": ("fairseq_xl.cli.doctor", "say what is installed, what is missing and how to get it"),
}


def _parser() -> argparse.ArgumentParser:
    width = max(map(len, COMMANDS))
    listing = "\n".join(f"  {name:{width}}  {text}" for name, (_, text) in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog="fairseq-xl",
        usage="fairseq-xl [-h] [--version] COMMAND …",
        description="Tools beside fairseq's own commands, which load the models and losses with\n"
        '--user-dir "$(fairseq-xl user-dir)".',
        epilog=f"commands:\n{listing}\n\n`fairseq-xl COMMAND --help` explains one.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"fairseq_xl {__version__}")
    parser.add_argument("command", metavar="COMMAND", nargs="?", help=argparse.SUPPRESS)
    return parser


def _dispatch(argv: list[str]) -> int:
    if not argv or argv[0] not in COMMANDS:
        parser = _parser()
        unknown = parser.parse_known_args(argv)[0].command
        if unknown is None:
            parser.print_help(sys.stderr)
            return 2
        near = difflib.get_close_matches(unknown, COMMANDS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "`fairseq-xl --help` lists them"
        raise InputError(f"fairseq-xl has no command {unknown!r}; {hint}")
    name = argv[0]
    module = importlib.import_module(COMMANDS[name][0])
    parser = argparse.ArgumentParser(prog=f"fairseq-xl {name}", description=COMMANDS[name][1])
    module.configure(parser)
    return module.run(parser.parse_args(argv[1:])) or 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run one sub-command and return the exit status.

    2 for a user's mistake (its sentence on stderr) and for a file that the system refuses, 130 for Ctrl-C, 141 where
    whoever read the output went away; every other exception is a defect of ours and shows its traceback.
    """
    if sys.stdout is not None and sys.stdout.isatty():
        sys.stdout = InertTerminal(sys.stdout)
    try:
        status = _dispatch(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()
    except InputError as error:
        print(f"error: {inert(str(error))}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in ("", "fairseq_xl"):
            raise
        print(
            f"error: the Python package {missing!r} is not installed; `fairseq-xl doctor` says how to get it",
            file=sys.stderr,
        )
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The interpreter flushes stdout once more when it ends: let that go nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        # A folder where a file is meant, no permission, a full disk: the command's own sentences come first, and here
        # is what none of them foresaw.
        if error.filename is None and error.errno not in FULL:
            raise
        place = "" if error.filename is None else f"{inert(str(error.filename))}: "
        print(f"error: {place}{error.strerror}", file=sys.stderr)
        return 2
    return status


if __name__ == "__main__":
    sys.exit(main())
