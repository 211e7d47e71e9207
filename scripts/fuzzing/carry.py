"""A case carried out: in a fork of this process, which has imported everything once, or in a process of its own."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pkgutil
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

import torch
import tqdm

import fairseq_xl
from fairseq_xl.io.errors import InputError
from fuzzing import places
from fuzzing.become import ROOT, SIGNALS, SLOW, become, quiet
from fuzzing.draw import Case

PAUSE = 30.0
"""Seconds in which even a busy machine gives some of the processor's time to who wants it."""
HEARD = 200_000
"""Bytes of what a command says that are kept."""


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
        quiet()
        return
    tqdm.tqdm.set_lock(threading.RLock())  # its own would be all forks', and lost with one that is killed
    torch.set_num_threads(1)
    fairseq_xl.hush()
    fairseq_xl.register()
    quiet()


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
    child = _fork(lambda: become(case, place.here, {name: writing for name, (_, writing) in ends.items()}))
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
        texts.append(content.decode("utf-8", "replace").replace("\0", ""))  # of what is UTF-16
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
