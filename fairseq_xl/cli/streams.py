"""Standard input, output and error, in whatever state a command gets them.

Text is UTF-8 here, in files and in pipes, whatever the locale. A translation that Latin-1 has no letters for must not
end in a traceback. A closed descriptor gets a stand-in. Otherwise the next file that is opened takes its number and
gets what others write to it.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any

from fairseq_xl.io.errors import EscapingTerminal

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What the system says of a disk, a share of it or a file that can hold no more."""
CLOSED = "standard input or output is closed, and this command needs it: connect it, or name a file"

# The wrong way round for input and output: whoever uses them is told, and does not read or write nothing.
_STAND_INS = (("stdin", os.O_WRONLY, "r"), ("stdout", os.O_RDONLY, "w"), ("stderr", os.O_WRONLY, "w"))


def restart_in_utf8() -> None:
    """Start this command anew in Python's UTF-8 mode where the locale has another encoding.

    Arguments, names of files, and what the programs print that a command starts are read by it from the beginning.
    """
    if sys.getfilesystemencoding().lower().replace("-", "") == "utf8" or not sys.executable:
        return
    os.environ["PYTHONUTF8"] = "1"
    os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


def prepare() -> None:
    """Stand in for what is closed, write UTF-8 into files and pipes, and keep control characters from a terminal."""
    for number, (name, flags, mode) in enumerate(_STAND_INS):
        try:
            os.fstat(number)
        except OSError:
            _open(number, flags)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        if sys.stdout.isatty():
            sys.stdout.reconfigure(errors="backslashreplace")  # its letters may be few
        else:  # and a file's name may be bytes that are no UTF-8
            sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    if sys.stdout.isatty() and not isinstance(sys.stdout, EscapingTerminal):
        sys.stdout = EscapingTerminal(sys.stdout)


def _open(number: int, flags: int) -> None:
    opened = os.open(os.devnull, flags)
    if opened != number:
        os.dup2(opened, number)
        os.close(opened)
    os.set_inheritable(number, True)


def say(sentence: str) -> None:
    """Print to standard error; where nobody can read that, nothing is to be done."""
    try:
        print(sentence, file=sys.stderr, flush=True)
    except OSError:
        abandon(sys.stderr)


def abandon(*streams: Any) -> None:
    """Let what the streams still hold go nowhere: the interpreter flushes them once more when it ends."""
    for stream in streams:
        try:
            stream.flush()
        except OSError:
            _open(stream.fileno(), os.O_WRONLY)


def why_refused(error: OSError) -> str | None:
    """A sentence for what the system refused; None where nothing is known of it, which is a defect of ours."""
    if error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if error.errno == errno.EBADF:
        return CLOSED
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return "too many files are open: ask for fewer processes, or raise the limit (ulimit -n)"
    if str(error.strerror).startswith("No usable temporary directory"):  # says Python's own module
        return "no folder for temporary files can be written to: make room in /tmp, or name one in TMPDIR"
    return error.strerror if error.errno in (*FULL, errno.EIO) else None
