"""The one exception that stands for a user's mistake, and how it and other text of data is shown at a terminal."""

from __future__ import annotations

import atexit
import errno
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, NoReturn, TextIO

LONGEST = 1500
"""Characters of a sentence that are shown."""
# C0 and C1 control characters but tab, newline and carriage return, and what turns the direction of writing around.
_COMMANDS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")

# As torch says it of a CPU and of a GPU.
_ALLOCATION = re.compile(r"[Tt]ried to allocate [\d.]+ \w+")


class InputError(ValueError):
    """Something the user gave cannot be used.

    The message is one sentence that says what is wrong, where, and what to do. Commands print it without a
    traceback and exit with status 2; library callers catch it as a ``ValueError``. What it quotes from files may hold
    anything, so that line breaks become blanks and the middle of a very long one is left out.
    """

    def __init__(self, sentence: str):
        sentence = " ".join(sentence.splitlines())
        if len(sentence) > LONGEST:
            sentence = f"{sentence[: LONGEST // 2]} […] {sentence[-LONGEST // 2 :]}"
        super().__init__(sentence)


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """An exception, the one that it was raised from or during, and so on."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


_NO_ROOM = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def why_not_written(error: BaseException | None) -> OSError | None:
    """The refusal of a disk (full, over a quota or a limit, read-only) that an exception is or was raised during."""
    return next((each for each in causes(error) if isinstance(each, OSError) and each.errno in _NO_ROOM), None)


def show_input_errors_without_traceback(
    explain: Callable[[BaseException], InputError | None] = lambda error: None,
) -> None:
    """Let an uncaught :class:`InputError`, and what ``explain`` makes one of, end the process with its sentence alone
    and status 2.

    fairseq's commands know nothing of our exception, so the interpreter's hook is the only place where they can
    be taught. Every other exception goes to the hook that was there before.
    """
    # hydra shows exceptions itself, by a traceback, unless it is asked to let them pass.
    os.environ.setdefault("HYDRA_FULL_ERROR", "1")
    previous = sys.excepthook
    if getattr(previous, "shows_input_errors", False):
        return

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        mistake = mistake_behind(error) or explain(error) or out_of_memory(error)
        if mistake is not None:
            print(f"error: {escape_controls(str(mistake))}", file=sys.stderr)
            _end_process(2)
        else:
            previous(kind, error, trace)

    hook.shows_input_errors = True  # type: ignore[attr-defined]
    sys.excepthook = hook


def out_of_memory(error: BaseException) -> InputError | None:
    """What to say where the memory, of the machine or of a GPU, does not hold what was asked for; else None."""
    asked = _ALLOCATION.search(str(error))
    if isinstance(error, MemoryError):
        detail = str(error) or "out of memory"
    elif isinstance(error, RuntimeError) and asked:
        detail = asked[0]
    else:
        return None
    return InputError(f"there is not enough memory ({detail}): ask for less")


def _end_process(status: int) -> NoReturn:
    """End, without the interpreter's farewell where that can abort.

    fairseq reads batches ahead in a daemon thread. A finalising interpreter kills such a thread where it stands. Inside
    torch's C++ that ends in "terminate called without an active exception" and a core dump.
    """
    if not any(thread.daemon for thread in threading.enumerate()):
        # The interpreter honours an exit that its hook raises.
        raise SystemExit(status)
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def mistake_behind(error: BaseException) -> InputError | None:
    """The user's mistake that an exception is or was raised from.

    fairseq's trainer wraps whatever a checkpoint's loading raises in a general exception of its own.
    """
    return next((each for each in causes(error) if isinstance(each, InputError)), None)


def escape_controls(text: str) -> str:
    r"""The same text with control characters spelled out, ESC as ``\x1b``: nothing moves, hides or renames.

    >>> print(escape_controls("a\x1b[2Jb"))
    a\x1b[2Jb
    """
    return _COMMANDS.sub(lambda found: ascii(found[0])[1:-1], text)


class EscapingTerminal:
    """A stream to a terminal that writes :func:`escape_controls` text and is otherwise as it was.

    What goes to a file or a pipe is data and must stay what it is: wrap terminals alone.
    """

    def __init__(self, stream: TextIO):
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(escape_controls(text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
