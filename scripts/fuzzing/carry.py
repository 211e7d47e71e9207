"""A case carried out: in a fork of this process, which has imported everything once, or in a process of its own."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import faulthandler
import gc
import importlib
import io
import logging
import os
import pkgutil
import random
import resource
import select
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import torch
import tqdm
from fairseq.logging import metrics

import fairseq_xl
from fairseq_xl.cli.main import main as cli
from fairseq_xl.io.errors import InputError
from fuzzing import places
from fuzzing.draw import Case

ROOT = Path(__file__).resolve().parents[2]
SLOW = 60.0
"""Seconds after which a command hangs: of the processor's time, or of the clock's where it does nothing."""
PAUSE = 10.0
"""Seconds in which even a busy machine gives some of the processor's time to who wants it."""
_OVERRIDING = (1, 2)  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH
_DROP_BOUND = 24  # PR_CAPBSET_DROP
_CAPABILITIES_3 = 0x20080522
MEMORY = 4 * 2**30
HEARD = 200_000
"""Bytes of what a command says that are kept."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)
_COMMAND = "import sys; from fairseq_xl.cli.main import main; sys.exit(main())"
_STREAMS = {"stdin": 0, "stdout": 1, "stderr": 2}


@dataclass
class Outcome:
    """What became of a command.

    Attributes:
        status: as ``os.waitstatus_to_exitcode`` has it; None: it hung and was killed.
        seconds: how long it took.
        out, err: what it said, where it could; of one that hung, where it stood as well.
        before, after: everything in its folder.
        was_killed: by the case's signal.
    """

    status: int | None
    seconds: float
    out: str
    err: str
    before: places.Tree
    after: places.Tree
    was_killed: bool


ROOMS = {
    "data": ("text", "sacremoses", "sentencepiece"),
    "vectors": ("vectors", "text", "fasttext"),
    "translate": ("translation", "continuous", "text", "training", "sacrebleu", "matplotlib.pyplot"),
    "embed": ("syntactic", "encode", "text", "vectors", "spacy", "onnxruntime", "matplotlib.pyplot"),
    "classify": ("siamese", "report", "matplotlib.pyplot"),
    "match": ("pairs", "encode", "report", "faiss", "matplotlib.pyplot"),
    "corpus": ("corpus", "encode", "gensim", "faiss"),
    "experiment": ("experiment", "report", "sacrebleu", "matplotlib.pyplot"),
}
"""What the commands of a group import: our rooms, and of others what functions import."""


def warm_up(group: str = "") -> None:
    """What a fork need not do again, for the commands of a group."""
    for name in ROOMS.get(group, ()):
        for module in _modules(name):
            # An extra is not there, or a command is to find that out.
            with contextlib.suppress(ImportError, InputError):
                importlib.import_module(module)
    if group:
        _quiet()
        return
    tqdm.tqdm.set_lock(threading.RLock())  # its own would be all forks', and lost with one that is killed
    torch.set_num_threads(1)
    fairseq_xl.hush()
    fairseq_xl.register()
    _quiet()


def _modules(name: str) -> Iterator[str]:
    """A package of others, or every module of a room of ours."""
    if not (ROOT / "fairseq_xl" / name).is_dir():
        yield name
        return
    yield f"fairseq_xl.{name}"
    for each in pkgutil.walk_packages([str(ROOT / "fairseq_xl" / name)], f"fairseq_xl.{name}."):
        # A crawl's reactor is a process's own.
        if not each.name.startswith("fairseq_xl.corpus.crawling"):
            yield each.name


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


class Place:
    """A folder for a case: ``here`` is where it runs, with a canary beside and above everything."""

    def __init__(self, world: Path, words: list[str]) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="fuzz."))
        self.folder.chmod(0o755)
        self.here = self.folder / "here"
        # Projects of other lines have hundreds of files.
        others = {path.parent.name for path in world.glob("in/*/corpus.yaml")}
        skipped = others - {Path(word).name for word in words}
        shutil.copytree(world, self.here, symlinks=True, ignore=lambda *_: skipped)
        for name in ("out", "in", "elsewhere", "home", "tmp", "locked"):
            (self.here / name).mkdir(exist_ok=True)
        places.canaries(self.folder)

    def tree(self) -> places.Tree:
        return places.tree(self.folder)

    def remove(self) -> None:
        for root, folders, _ in os.walk(self.folder):
            for name in folders:  # before it is entered
                if not os.path.islink(os.path.join(root, name)):
                    os.chmod(os.path.join(root, name), 0o700)
        shutil.rmtree(self.folder, ignore_errors=True)


def carry_out(case: Case, place: Place, seconds: float = 0.0) -> Outcome:
    """Run a case in its place.

    Args:
        seconds: how long its line takes undisturbed, for the moment of its signal.
    """
    helpers = []
    for path, state in case.places.items():
        what = places.arrange(place.here, path, state, case.seed)
        if what is not None:
            helpers.append(_fork(_at_the_other_end(place.here / path, what)))
    (place.here / "locked").chmod(0o555)
    before = place.tree()
    ends = {name: os.pipe() for name in ("stdout", "stderr", "stack")}
    began = time.monotonic()
    child = _fork(lambda: _become(case, place, {name: writing for name, (_, writing) in ends.items()}))
    said: dict[int, bytes] = {}
    for reading, writing in ends.values():
        os.close(writing)
        os.set_blocking(reading, False)
        said[reading] = b""
    handle = os.pidfd_open(child)
    was_killed = False
    if case.signal is not None:
        extra = 1.0 if case.real else 0.0  # it imports first
        was_killed = not _wait(handle, said, extra + case.share * (seconds + extra))
        number = getattr(signal, f"SIG{case.signal}")
        # Ctrl-C goes to everybody in the foreground.
        if was_killed and case.signal == "INT":
            os.killpg(child, number)
        elif was_killed:
            os.kill(child, number)
    ended = _wait(handle, said, SLOW)
    spent = 0.0
    while not ended and spent < (spent := _spent(child)) < SLOW:
        ended = _wait(handle, said, PAUSE)
    took = time.monotonic() - began
    if not ended:
        os.kill(child, signal.SIGUSR1)  # says where it stands
        _wait(handle, said, 0.5)
    for process in (child, *helpers):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process, signal.SIGKILL)
    for process in helpers:
        os.waitpid(process, 0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    _wait(handle, said, 0)
    os.close(handle)
    texts = []
    for reading, content in said.items():
        os.close(reading)
        texts.append(content.decode("utf-8", "replace"))
    out, err, stack = texts
    return Outcome(status if ended else None, took, out, err + stack, before, place.tree(), was_killed)


def _wait(handle: int, said: dict[int, bytes], seconds: float) -> bool:
    """Hear what a child says until it ends. Returns: whether it has ended within so many seconds."""
    until = time.monotonic() + seconds
    open_ends = set(said)
    while True:
        left = until - time.monotonic()
        ready = select.select([handle, *open_ends], [], [], max(0.0, left))[0]
        for end in ready:
            if end == handle:
                continue
            try:
                heard = os.read(end, 65536)
            except BlockingIOError:
                continue
            if not heard:
                open_ends.discard(end)
            said[end] = (said[end] + heard)[:HEARD]
        if handle in ready and len(ready) == 1:
            return True
        if left <= 0 and len(ready) == 0:
            return False
        if left <= 0 and handle not in ready:
            return False


def _spent(group: int) -> float:
    """Seconds of the processor's time that a group of processes has had."""
    ticks = 0
    for about in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = about.read_text(errors="replace").rpartition(")")[2].split()
            if int(fields[2]) == group:
                ticks += sum(map(int, fields[11:15]))  # its own and its ended children's
    return ticks / os.sysconf("SC_CLK_TCK")


def _fork(work: Callable[[], object]) -> int:
    gc.freeze()
    sys.stdout.flush()
    sys.stderr.flush()
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # until the child is what it is to be
    child = os.fork()
    if child != 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    if child == 0:
        try:
            os.setpgid(0, 0)
            work()
        finally:
            os._exit(70)
    with contextlib.suppress(PermissionError, ProcessLookupError):
        os.setpgid(child, child)
    return child


def _at_the_other_end(pipe: Path, what: str) -> Callable[[], None]:
    """Somebody who reads a pipe, or writes into it what the file beside it holds."""

    def work() -> None:
        if what == "read":
            while True:
                pipe.read_bytes()
        content = pipe.with_name(f"aside.{pipe.name}").read_bytes()
        pipe.write_bytes(content)

    return work


def _become(case: Case, place: Place, ends: dict[str, int]) -> NoReturn:
    """The child's part: everything that makes it this case, then the command."""
    here = place.here
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
        if state == "short":
            _fork(lambda: (os.close(writing), os.read(reading, 10)))
        os.close(reading)
        os.dup2(writing, number)
    elif state == "full":
        os.dup2(os.open("/dev/full", os.O_WRONLY), number)
    elif state == "garbage":
        content = tempfile.TemporaryFile()  # noqa: SIM115
        content.write(random.Random(case.seed).randbytes(1000))
        content.seek(0)
        os.dup2(content.fileno(), number)
    elif state == "folder":
        os.dup2(os.open(here, os.O_RDONLY), number)
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


def _quiet() -> None:
    """Many a module that is imported sets logging up for everybody."""
    logging.getLogger().handlers.clear()
    logging.getLogger().setLevel(logging.WARNING)


def _forget() -> None:
    """What a new process has not got: handlers of signals, logging, figures, a folder for temporary files."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    atexit._clear()
    metrics.reset()
    _quiet()
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
    threading._shutdown()
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
