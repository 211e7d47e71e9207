"""``fairseq-xl``: groups of commands, of which only the chosen one's module is imported."""

from __future__ import annotations

import argparse
import difflib
import os
import re
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from fairseq_xl import __version__, hush, register
from fairseq_xl.cli import streams
from fairseq_xl.cli.parsing import Table, load, parse
from fairseq_xl.io.errors import InputError, causes, escape_controls, out_of_memory

COMMANDS: Table = {
    "data": ("fairseq_xl.cli.data:COMMANDS", "fetch, clean, cut and generate text"),
    "vectors": ("fairseq_xl.cli.vectors:COMMANDS", "train, convert, align and inspect word vectors"),
    "translate": ("fairseq_xl.cli.translate:COMMANDS", "translate, and pack, tune and diagnose translation models"),
    "embed": (
        "fairseq_xl.cli.embed:COMMANDS",
        "sentence embeddings: encode text, evaluate the syntax in them",
    ),
    "classify": ("fairseq_xl.cli.classify:COMMANDS", "classify text of a low-resource language (Siamese encoder)"),
    "match": ("fairseq_xl.cli.match:COMMANDS", "decide whether two sentences mean the same; search questions"),
    "corpus": ("fairseq_xl.cli.corpus:COMMANDS", "a corpus of sentence pairs from a bilingual website"),
    "eole": (
        "fairseq_xl.cli.eole:COMMANDS",
        "train and translate in eole (OpenNMT-py's successor), without fairseq",
    ),
    "experiment": ("fairseq_xl.cli.experiment:COMMANDS", "run systems and seeds through a recipe, and report"),
    "doctor": ("fairseq_xl.cli.doctor:Doctor", "say what is installed, what is missing and how to get it"),
    "options": ("fairseq_xl.cli.options:Options", "print what a model, task or criterion takes in fairseq-train"),
    "completion": ("fairseq_xl.cli.completion:Completion", "print a script that completes commands in a shell"),
    "user-dir": ("fairseq_xl.cli.user_dir:UserDir", "print the path to pass to fairseq's --user-dir"),
}

GONE = "the folder that this was started in is gone: change to another one"


def find(words: Sequence[str]) -> tuple[str, Any, Sequence[str]]:
    """The command that the first words name: its name, its class or group's table, and the words after it.

    Raises:
        InputError: no such command.
    """
    name: str = "fairseq-xl"
    found: Any = COMMANDS
    while isinstance(found, Mapping) and words and not words[0].startswith("-"):
        if words[0] not in found:
            near = difflib.get_close_matches(words[0], found, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"`{name} --help` lists them"
            raise InputError(f"{name} has no command {words[0]!r}; {hint}")
        place = found[words[0]][0]
        name, words = f"{name} {words[0]}", words[1:]
        found = load(place)
    return name, found, words


def group_parser(name: str, table: Table) -> argparse.ArgumentParser:
    """The parser of ``fairseq-xl`` itself or of a group of its commands, which explains them."""
    width = max(map(len, table))
    listing = "\n".join(f"  {each:{width}}  {text}" for each, (_, text) in table.items())
    parser = argparse.ArgumentParser(
        prog=name,
        usage=f"{name} [-h]{' [--version]' if table is COMMANDS else ''} COMMAND …",
        description="Tools beside fairseq's own commands, which load the models and losses with\n"
        '--user-dir "$(fairseq-xl user-dir)".'
        if table is COMMANDS
        else None,
        epilog=f"commands:\n{listing}\n\n`{name} COMMAND --help` explains one.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if table is COMMANDS:
        parser.add_argument("--version", action="version", version=f"fairseq_xl {__version__}")
    return parser


def _dispatch(argv: list[str]) -> int:
    name, found, words = find(argv)
    if isinstance(found, Mapping):
        parser = group_parser(name, found)
        parser.parse_args(words)
        parser.print_help(sys.stderr)
        return 2
    parser = argparse.ArgumentParser(prog=name, allow_abbrev=False)
    command = parse(parser, found, words)
    if not _is_here():  # the processor's library that torch and others bring ends the process then
        raise InputError(GONE)
    _refuse_overwriting(command)
    if (user_dir := getattr(command, "user_dir", None)) is not None:
        register(user_dir)
    return command.run() or 0


_SOURCES = ("FILE", "SOURCE", "TAGGER")
"""What a metavar has where a text may name a file."""


def _refuse_overwriting(command: Any) -> None:
    """See that no file is written over one that is read, and none is written twice.

    Raises:
        InputError: ``--output``, or another option that is written, is a file that another argument names.
    """
    paths = {each.name: _paths(getattr(command, each.name), each.metadata) for each in fields(command)}
    written = [each.name for each in fields(command) if each.name == "output" or "writes" in each.metadata]
    seen: dict[str, str] = {}
    for each in fields(command):
        if each.metadata.get("metavar") == "PREFIX":  # its help names the files
            endings = re.findall(r"PREFIX(\.\w+)", each.metadata["help"])
            paths[each.name] = [Path(f"{path}{ending}") for path in paths[each.name] for ending in endings]
    for option in written:
        for path in paths[option]:
            given = f"--{option.replace('_', '-')} {path}"
            for name in paths.keys() - written:
                if path.is_file() and any(read.is_file() and read.samefile(path) for read in paths[name]):
                    raise InputError(f"{given} is read, too ({name}): name another file")
            if path.exists() and not path.is_file():
                continue
            if (first := seen.setdefault(os.path.realpath(path), given)) != given:
                raise InputError(f"{given} is written twice (as {first}, too): name another file")


def _paths(given: Any, metadata: Mapping[str, Any]) -> list[Path]:
    """The paths that an option may name, in sources as FILE,class=2 and L=FILE, too."""
    found = []
    for each in given if isinstance(given, list | tuple) else [given]:
        if isinstance(each, Path):
            found.append(each)
        elif isinstance(each, str) and any(word in str(metadata.get("metavar")) for word in _SOURCES):
            name = each.split(",")[0]
            found += [Path(name), Path(name.partition("=")[2])]
    return found


def _is_here() -> bool:
    """Whether there is a working folder: it may have been removed, and relative names then lead nowhere."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return False
    return True


def _is_of_an_interrupt(error: BaseException) -> bool:
    """Whether an exception was raised on the way out after Ctrl-C, as torch does where it was writing a file."""
    return any(isinstance(each, KeyboardInterrupt) for each in causes(error))


def heed_interrupts() -> None:
    """Let no Ctrl-C be lost: one that comes while Python clears an object away would only be printed."""
    previous = sys.unraisablehook

    def hook(lost: Any) -> None:
        if not isinstance(lost.exc_value, KeyboardInterrupt):
            previous(lost)
            return
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, 0.01)  # once more, when this is over

    sys.unraisablehook = hook


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status.

    The status is 2 for a user's mistake, whose sentence goes to stderr, and for a file that the system refuses. It is
    130 for Ctrl-C, and 141 where the reader of the output went away. Every other exception is a defect of ours and
    shows its traceback.
    """
    if argv is None:
        streams.restart_in_utf8()
        heed_interrupts()
    streams.prepare()
    hush()
    try:
        try:
            status = _dispatch(list(sys.argv[1:] if argv is None else argv))
        except SystemExit:  # of a parser that has printed its help
            sys.stdout.flush()
            raise
        sys.stdout.flush()
        return status
    except InputError as error:
        sentence = str(error)
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in ("", "fairseq_xl"):
            raise
        sentence = f"the Python package {missing!r} is not installed; `fairseq-xl doctor` says how to get it"
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 141
    except OSError as error:
        # The cause may be a folder where a file is meant, no permission, or a full disk. Commands raise an InputError
        # for what they foresee. This is for the rest.
        refused = streams.why_refused(error)
        if error.filename is None and not _is_here():
            refused = GONE
        if refused is None:
            raise
        sentence = str(InputError(refused))  # of a length that can be read
    except (MemoryError, RuntimeError) as error:
        if _is_of_an_interrupt(error):
            return 130
        too_large = out_of_memory(error)
        if too_large is None:
            raise
        sentence = str(too_large)
    finally:
        streams.abandon(sys.stdout, sys.stderr)
    streams.say(f"error: {escape_controls(sentence)}")
    return 2


if __name__ == "__main__":
    sys.exit(main())
