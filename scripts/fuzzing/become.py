"""What a child does to become a case: the circumstances, then the command, and the end of a Python process."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import faulthandler
import io
import logging
import os
import random
import resource
import signal
import sys
import tempfile
import threading
from pathlib import Path
from typing import NoReturn

from fairseq.logging import metrics

from fairseq_xl.cli.main import main as cli
from fuzzing.draw import Case

ROOT = Path(__file__).resolve().parents[2]
SLOW = 60.0
"""Seconds after which a command hangs: of the processor's time, or of the clock's where it does nothing."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)
_OVERRIDING = (1, 2)  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH
_DROP_BOUND = 24  # PR_CAPBSET_DROP
_CAPABILITIES_3 = 0x20080522
MEMORY = 4 * 2**30
_COMMAND = "import sys; from fairseq_xl.cli.main import main; sys.exit(main())"
_STREAMS = {"stdin": 0, "stdout": 1, "stderr": 2}


def bound_by_permissions() -> None:
    """Let permissions of files mean something to root as well, here and in what is started from here."""
    if os.geteuid() != 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    every = (1 << 40) - 1
    for number in _OVERRIDING:
        libc.prctl(_DROP_BOUND, number, 0, 0, 0)
        every &= ~(1 << number)
    halves = [every & 0xFFFFFFFF, every >> 32]
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_3, 0)
    # Effective, permitted and inheritable ones, the lower half first; none that this process has not got.
    now = (ctypes.c_uint32 * 6)()
    libc.capget(header, now)
    kept = [value & halves[place // 3] for place, value in enumerate(now)]
    if libc.capset(header, (ctypes.c_uint32 * 6)(*kept)):
        raise OSError(ctypes.get_errno(), "capset")


def become(case: Case, here: Path, ends: dict[str, int]) -> NoReturn:
    """The child's part: everything that makes it this case, then the command."""
    inputs = os.open(here / case.stdin, os.O_RDONLY) if case.stdin and (here / case.stdin).is_file() else None
    files = [inputs, ends["stdout"], ends["stderr"]]
    os.chdir(here)
    os.umask(case.umask)
    bound_by_permissions()
    given = {"HOME": "{here}/home", "TMPDIR": "{here}/tmp", "CUDA_VISIBLE_DEVICES": "", "MPLCONFIGDIR": "{here}/tmp"}
    for name, value in {**given, **case.environment}.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value.replace("{here}", str(here))
    os.environ |= {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"} | {
        name: value for name, value in case.environment.items() if name == "OMP_NUM_THREADS" and value
    }
    if case.folder == "gone":
        os.mkdir("gone")
        os.chdir("gone")
        os.rmdir("../gone")
    words = [word.replace("{here}", str(here)) for word in case.words]
    stack = 99  # nobody takes it for something else
    os.dup2(ends["stack"], stack)
    for name, number in _STREAMS.items():
        _open_stream(name, number, files[number], case, here)
    os.closerange(3, stack)
    os.closerange(stack + 1, 4096)
    limits = {"CORE": 0, "CPU": int(SLOW) * 2, **case.limits}
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limits["AS"] = MEMORY + size
    if case.real:
        command = [sys.executable, "-c", _COMMAND, *words]
        os.set_inheritable(stack, False)
        _limit(limits)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        os.execv(sys.executable, [os.fsencode(word) for word in command])
    faulthandler.register(signal.SIGUSR1, stack, all_threads=True)
    _forget()
    _limit(limits)
    _end(words)


def _limit(limits: dict[str, int]) -> None:
    for name, value in limits.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))


def _open_stream(name: str, number: int, file: int | None, case: Case, here: Path) -> None:
    """Standard stream NUMBER as the case has it, and Python's own beside it."""
    state = case.streams.get(name, "")
    writes = number > 0
    if state == "closed":
        os.close(number)
    elif state in ("gone", "short"):
        reading, writing = os.pipe()
        if state == "short" and os.fork() == 0:
            os.close(writing)
            os.read(reading, 10)
            os._exit(0)
        os.close(reading)
        os.dup2(writing, number)
    elif state == "full":
        os.dup2(os.open("/dev/full", os.O_WRONLY), number)
    elif state == "garbage":
        content = tempfile.TemporaryFile()  # noqa: SIM115
        content.write(random.Random(case.seed).randbytes(1000))
        content.seek(0)
        os.dup2(content.fileno(), number)
    elif state in ("unreadable", "unwritable"):
        os.dup2(os.open(os.devnull, os.O_RDONLY if writes else os.O_WRONLY), number)
    elif state == "null" or file is None:
        os.dup2(os.open(os.devnull, os.O_RDWR), number)
    else:
        os.dup2(file, number)
    if case.real:
        return
    stream = None
    if state != "closed":
        buffer = open(number, "wb" if writes else "rb", closefd=False)  # noqa: SIM115
        errors = "backslashreplace" if number == 2 else "strict"
        stream = io.TextIOWrapper(buffer, "utf-8", errors, newline="\n", line_buffering=number == 2)
    vars(sys)[name] = vars(sys)[f"__{name}__"] = stream


def quiet() -> None:
    """Many a module that is imported sets logging up for everybody."""
    logging.getLogger().handlers.clear()
    logging.getLogger().setLevel(logging.WARNING)


def _forget() -> None:
    """What a new process has not got: handlers of signals, logging, figures, a folder for temporary files."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    atexit._clear()
    metrics.reset()
    quiet()
    for name in [name for name in sys.modules if name.split(".")[0] == "fairseq_cli"]:
        del sys.modules[name]
    tempfile.tempdir = None


def _end(words: list[str]) -> NoReturn:
    """Run the command and end as Python does, but for taking its modules apart."""
    sys.argv = ["fairseq-xl", *words]
    status: object = 1
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        status = cli() or 0
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except SystemExit as end:
        status = end.code or 0
    except KeyboardInterrupt:
        status = 130  # before the command began, or when it had ended
    except BaseException as error:
        with contextlib.suppress(OSError):
            sys.excepthook(type(error), error, error.__traceback__)
        status = 1
    if not isinstance(status, int):
        print(status, file=sys.stderr)
        status = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    if sys.stdout is not None:
        try:
            sys.stdout.flush()
        except OSError as lost:
            print(f"Exception ignored in: {sys.stdout}\n{type(lost).__name__}: {lost}", file=sys.stderr)
            status = 120
    if sys.stderr is not None:
        try:
            sys.stderr.flush()
        except OSError:
            status = status or 120
    os._exit(status & 0xFF)
