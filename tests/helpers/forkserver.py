"""The commands that shell scripts start, in forks of a process that has imported torch and fairseq.

An import takes five seconds of a core and a recipe starts dozens of commands. :class:`Server` starts a process that
has no more than that in it, and a folder of commands for PATH. Each is a small client (forkclient.py) that hands its
words, folder, environment, open files, ignored signals and umask to the server and ends as the server's fork for it
ends. Signals to the client reach the work, and the work does not outlive it.

The plugin is in no module of the server: each fork imports fairseq_xl as a new process does, from its own PYTHONPATH
or ``--user-dir``. What differs from a new process:

- modules of others are imported already, and what they say then is not said again;
- files that nobody closed are not written out at its end;
- the order of sets of strings is the same in all forks of a server;
- the work is in a process group of its own: a signal to the client's whole group reaches the work
  and not what it started, except KILL, which takes the work's group along;
- what Python and torch read from the environment when they start cannot change: such a client is refused.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import importlib
import importlib.util
import io
import logging
import marshal
import os
import runpy
import selectors
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, NoReturn

HERE = Path(__file__).resolve()
COMMANDS = {
    "fairseq-generate": ("fairseq_cli.generate", "cli_main"),
    "fairseq-hydra-train": ("fairseq_cli.hydra_train", "cli_main"),
    "fairseq-interactive": ("fairseq_cli.interactive", "cli_main"),
    "fairseq-preprocess": ("fairseq_cli.preprocess", "cli_main"),
    "fairseq-score": ("fairseq_cli.score", "cli_main"),
    "fairseq-train": ("fairseq_cli.train", "cli_main"),
    "fairseq-validate": ("fairseq_cli.validate", "cli_main"),
    "fairseq-xl": ("fairseq_xl.cli.main", "main"),
    "sacrebleu": ("sacrebleu.sacrebleu", "main"),
    "torchrun": ("torch.distributed.run", "main"),
    "python-script": ("__main__", "run_script"),
}
# Imported before the first fork: what the commands need of others.
OTHERS = (
    *("sacrebleu.dataset", "sacrebleu.significance", "sacremoses", "sentencepiece", "fasttext", "regex"),
    *("scipy.sparse", "scipy.special"),
    "torch._dynamo",  # which the first optimiser imports, in three seconds
    *("torch.distributed.run", *(module for module, _ in COMMANDS.values() if module.startswith("fairseq_cli."))),
)
READ_AT_START = ("PYTHON", "LC_", "LANG", "OMP_", "MKL_", "OPENBLAS_")
# fairseq sets the last one in the tests' own process when it loads data in several.
FOLLOWED = {"PYTHONPATH", "PYTHONUNBUFFERED", "PYTHONWARNINGS"}


class Server:
    """Runs for as long as this process does, or until :meth:`close`; ``folder`` is one for PATH.

    It has imported the modules ``others``.
    """

    def __init__(self, others: Sequence[str] = OTHERS) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="forks-"))  # a short name: those of sockets are
        self.folder = self.home / "bin"
        self.folder.mkdir()
        address = self.home / "socket"
        client = shlex.join([sys.executable, "-ISs", str(HERE.with_name("forkclient.py")), str(address)])
        for name in COMMANDS:
            command = self.folder / name
            command.write_text(f'#!/bin/sh\nexec {client} "$0" "$@"\n')
            command.chmod(0o755)
        # It ends when its standard input says so or ends, which is when nobody has the other end: whatever became of
        # the tests.
        self.process = subprocess.Popen(
            [sys.executable, str(HERE), str(self.home), *others],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            process_group=0,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        if not self.process.stdout.readline():
            raise RuntimeError("the server of forks did not start")

    def environment(self, given: Mapping[str, str] | None = None) -> dict[str, str]:
        """Of a process that is to find these commands first, those of this interpreter next, and this plugin."""
        environment = dict(os.environ if given is None else given)
        folders = [str(self.folder), str(Path(sys.executable).parent), environment.get("PATH", os.defpath)]
        paths = [str(HERE.parents[2]), *filter(None, [environment.get("PYTHONPATH")])]
        environment.update(
            PATH=os.pathsep.join(folders),
            PYTHONPATH=os.pathsep.join(paths),
            OMP_NUM_THREADS="1",
            FAIRSEQ_XL_VENV=str(self.home),
        )
        return environment

    def run(self, *command: object, **options: object) -> subprocess.CompletedProcess[str]:
        """What a command says and ends with; ``cwd``, ``input`` … are those of ``subprocess.run``."""
        env = self.environment(options.pop("env", None))
        options = {"capture_output": True, "text": True, "check": False, "timeout": 900, **options}
        return subprocess.run(list(map(str, command)), env=env, **options)

    def close(self) -> None:
        # Said, too: a process that was forked here meanwhile, such as one that loads data, has the other end as well.
        with suppress(BrokenPipeError):
            self.process.stdin.write(b"end")
            self.process.stdin.close()
        self.process.wait(900)
        self.process.stdout.close()


class Request(NamedTuple):
    words: list[str]
    folder: bytes
    environment: dict[bytes, bytes]
    numbers: list[int]  # of the open files
    ignored: list[int]  # signals
    umask: int
    files: list[int]  # those files, by their numbers here


def receive(connection: socket.socket) -> Request | None:
    """What a client asks for; nothing if it is gone before it has said all."""
    length, files, _, _ = socket.recv_fds(connection, 8, 250)
    size = int.from_bytes(length, "little")
    told = b""
    while len(told) < size and (more := connection.recv(size - len(told))):
        told += more
    if len(length) < 8 or len(told) < size:
        for file in files:
            os.close(file)
        return None
    return Request(*marshal.loads(told), list(files))


def serve(listening: socket.socket, tests: int) -> Request | None:
    """Fork for each client. Returns in a fork, with what it is to do, and in the server when the tests have ended."""
    selector = selectors.DefaultSelector()
    woken, waking = socket.socketpair()
    for end in (woken, waking):
        end.setblocking(False)
    signal.set_wakeup_fd(waking.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for source in (listening, tests, woken):
        selector.register(source, selectors.EVENT_READ)
    clients: dict[int, socket.socket] = {}
    while True:
        for key, _ in selector.select():
            if key.fileobj == tests:
                signal.set_wakeup_fd(-1)
                for process in clients:
                    os.killpg(process, signal.SIGKILL)
                return None
            if key.fileobj is woken:
                woken.recv(4096)
                while (ended := _ended())[0]:
                    client = clients.pop(ended[0])
                    if client.fileno() >= 0:
                        selector.unregister(client)
                        with suppress(OSError):  # it may just have been killed
                            client.sendall(ended[1].to_bytes(4, "little"))
                        client.close()
            elif key.fileobj is listening:
                client, _ = listening.accept()
                request = receive(client)
                if request is None:
                    client.close()
                    continue
                process = os.fork()
                if process == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    selector.close()
                    for ours in (listening, woken, waking, client, *clients.values()):
                        ours.close()
                    return request
                os.setpgid(process, process)
                for file in request.files:
                    os.close(file)
                clients[process] = client
                selector.register(client, selectors.EVENT_READ, process)
            elif key.data in clients:
                numbers = _heard(key.fileobj)
                for number in numbers:
                    os.kill(key.data, number)
                if not numbers:
                    selector.unregister(key.fileobj)
                    key.fileobj.close()
                    os.killpg(key.data, signal.SIGKILL)


def _ended() -> tuple[int, int]:
    try:
        return os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return 0, 0


def _heard(client: socket.socket) -> bytes:
    try:
        return client.recv(64)
    except ConnectionError:
        return b""


def become(request: Request, unchanging: dict[str, str], imported: dict[str, str]) -> None:
    """Give this fork what its client has, and what imports leave in the environment."""
    os.setpgid(0, 0)
    # First above all numbers that are wanted, so that none is lost before it is copied.
    above = max([2, *request.numbers]) + 1
    files = [fcntl.fcntl(file, fcntl.F_DUPFD, above) for file in request.files]
    for file in (0, 1, 2, *request.files):
        os.close(file)
    for file, number in zip(files, request.numbers, strict=True):
        os.dup2(file, number)
        os.close(file)
    os.umask(request.umask)
    os.chdir(request.folder)
    os.environb.clear()
    os.environb.update(request.environment)
    for name, value in imported.items():
        os.environ.setdefault(name, value)
    for number in request.ignored:
        signal.signal(number, signal.SIG_IGN)
    if signal.SIGINT not in request.ignored:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = _stream(number, vars(sys)[name]) if number in request.numbers else None
        vars(sys)[name] = vars(sys)[f"__{name}__"] = stream
    tempfile.tempdir = None  # that of the environment
    if _start_values() != unchanging:
        sys.exit(f"error: a fork cannot follow: {sorted(set(_start_values().items()) ^ set(unchanging.items()))}")
    paths = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    sys.path[:0] = [str(Path(request.words[0]).parent), *map(os.path.abspath, paths)]
    sys.argv = request.words
    import numpy
    import torch

    # Both draw their seeds when they are imported.
    numpy.random.seed()  # noqa: NPY002
    torch.seed()


def _stream(number: int, like: io.TextIOWrapper) -> io.TextIOWrapper:
    """Standard stream NUMBER, made as Python makes it when it starts."""
    unbuffered = bool(os.environ.get("PYTHONUNBUFFERED"))
    mode, size = ("wb", 0 if unbuffered else -1) if number else ("rb", -1)
    buffer = open(number, mode, size, closefd=False)  # noqa: SIM115
    by_line = not unbuffered and (number == 2 or os.isatty(number))
    return io.TextIOWrapper(
        buffer, like.encoding, like.errors, newline="\n", line_buffering=by_line, write_through=unbuffered
    )


def run_script() -> None:
    """``python-script FILE ARGUMENT…``: what ``python`` does with a file."""
    del sys.argv[0]
    sys.path[0] = str(Path(sys.argv[0]).resolve().parent)
    runpy.run_path(sys.argv[0], run_name="__main__")


def _end(error: BaseException) -> NoReturn:
    """As Python ends, but for taking its modules apart, which costs more than many a command."""
    if not isinstance(error, SystemExit):
        sys.excepthook(type(error), error, error.__traceback__)
        status = 1
    elif error.code is None or isinstance(error.code, int):
        status = (error.code or 0) & 0xFF
    else:
        print(error.code, file=sys.stderr)
        status = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except OSError as lost:
            print(f"Exception ignored in: {stream}\n{type(lost).__name__}: {lost}", file=sys.stderr)
            status = 120
    if isinstance(error, KeyboardInterrupt):
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(status)


def _import_alone(name: str) -> None:
    """Import a package as if fairseq were not there yet, so that nothing is registered until a command needs it."""
    fairseq = sys.modules.pop("fairseq", None)
    importlib.import_module(name)
    if fairseq is not None:
        sys.modules["fairseq"] = fairseq


def _start_values() -> dict[str, str]:
    return {
        name: value for name, value in os.environ.items() if name.startswith(READ_AT_START) and name not in FOLLOWED
    }


def _prepare(others: Sequence[str]) -> None:
    """Import what the forks need of others, and undo what that does beyond."""
    paths = {os.path.abspath(path) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path}
    for name in others:
        importlib.import_module(name)
    os.environ.pop("TORCHINDUCTOR_CACHE_DIR", None)  # torch._dynamo's, which a new process has not imported yet
    import torch
    import tqdm

    torch.set_num_threads(1)
    tqdm.tqdm.set_lock(threading.RLock())  # its own would be all forks', and lost with one that is killed
    # A new process's first import of its command sets logging up.
    for name in [name for name in sys.modules if name.split(".")[0] == "fairseq_cli"]:
        del sys.modules[name]
    logging.getLogger().handlers.clear()
    logging.getLogger().setLevel(logging.WARNING)
    assert "fairseq_xl" not in sys.modules
    threads = [Path(f"/proc/self/task/{number}/comm").read_text().strip() for number in os.listdir("/proc/self/task")]
    # jemalloc, which comes with pyarrow, knows how to be forked.
    assert len([name for name in threads if name != "jemalloc_bg_thd"]) == 1, f"a fork would lose threads: {threads}"
    sys.path[:] = [path for path in sys.path[1:] if os.path.abspath(path) not in paths]


def main() -> None:
    home, others = Path(sys.argv[1]), sys.argv[2:]
    os.chdir("/")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    unchanging = _start_values()
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(home / "socket"))
    listening.listen(64)
    print("listening", flush=True)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    before = set(os.environ)
    _prepare(others)
    imported = {name: value for name, value in os.environ.items() if name not in before}
    gc.collect()
    gc.freeze()
    request = serve(listening, 0)
    if request is None:
        shutil.rmtree(home)
        return
    try:
        become(request, unchanging, imported)
        module, function = COMMANDS[Path(request.words[0]).name]
        if module == "fairseq_xl.cli.main":
            _import_alone("fairseq_xl")
        sys.exit(getattr(importlib.import_module(module), function)())
    except BaseException as end:
        _end(end)


if __name__ == "__main__":
    main()
