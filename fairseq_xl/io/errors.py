"""The one exception that stands for a user's mistake, and how it is shown."""

from __future__ import annotations

import atexit
import errno
import os
import sys
import threading
from types import TracebackType
from typing import NoReturn

from fairseq_xl.io.terminal import escape_controls

LONGEST = 1500
"""Characters of a sentence that are shown."""


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


_NO_ROOM = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def why_not_written(error: BaseException | None) -> OSError | None:
    """The refusal of a disk (full, over a quota or a limit, read-only) that an exception is or was raised during."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            return error
        error = error.__cause__ or error.__context__
    return None


def show_input_errors_without_traceback() -> None:
    """Let an uncaught :class:`InputError` end the process with its sentence alone and status 2.

    fairseq's commands know nothing of our exception, so the interpreter's hook is the only place where they can
    be taught. Every other exception goes to the hook that was there before.
    """
    # hydra shows exceptions itself, by a traceback, unless it is asked to let them pass.
    os.environ.setdefault("HYDRA_FULL_ERROR", "1")
    previous = sys.excepthook
    if getattr(previous, "shows_input_errors", False):
        return

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        mistake = _behind(error) or _missing_split(error)
        if mistake is not None:
            print(f"error: {escape_controls(str(mistake))}", file=sys.stderr)
            _end_process(2)
        else:
            previous(kind, error, trace)

    hook.shows_input_errors = True  # type: ignore[attr-defined]
    sys.excepthook = hook


def _missing_split(error: BaseException) -> InputError | None:
    """Every task of fairseq looks for its own files, and says this where a split has none."""
    if isinstance(error, FileNotFoundError) and str(error).startswith("Dataset not found: "):
        return InputError(f"{error}: name the splits, the languages and the folder of the binarised text")
    return None


def _end_process(status: int) -> NoReturn:
    """End, without the interpreter's farewell where that can abort.

    fairseq reads batches ahead in a daemon thread. A finalising interpreter kills such a thread where it stands, and
    inside torch's C++ that ends in "terminate called without an active exception" and a core dump.
    """
    if not any(thread.daemon for thread in threading.enumerate()):
        # The interpreter honours an exit that its hook raises.
        raise SystemExit(status)
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _behind(error: BaseException | None) -> InputError | None:
    """The user's mistake that an exception is or was raised from.

    fairseq's trainer wraps whatever a checkpoint's loading raises in a general exception of its own.
    """
    while error is not None and not isinstance(error, InputError):
        error = error.__cause__ or error.__context__
    return error
