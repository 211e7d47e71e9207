"""fairseq's commands in processes of their own that need not import fairseq again: each is a fork of the test's.

An import takes seconds and the commands of a test file are many. What a new process does that this does not: import
the plugin when ``--user-dir`` names it. The recipes' tests see to that.
"""

from __future__ import annotations

import atexit
import importlib
import logging
import multiprocessing
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import torch
import torch._dynamo  # which the first optimiser of each fork would import, in three seconds
from fairseq import checkpoint_utils
from fairseq.logging import metrics

from fairseq_xl import compat


def run(
    module: str, *arguments: object, stdin: str = "", timeout: float = 900, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """What ``python -m MODULE ARGUMENTS …`` says and ends with; MODULE is one of fairseq_cli or fairseq_xl.cli.main."""
    temporary = partial(tempfile.TemporaryFile, "w+")
    with temporary() as given, temporary() as out, temporary() as err:
        given.write(stdin)
        given.seek(0)
        child = _start([module, *map(str, arguments)], [stream.fileno() for stream in (given, out, err)], folder)
        child.join(timeout)
        if child.is_alive():
            child.kill()
            child.join()
            raise subprocess.TimeoutExpired([module, *map(str, arguments)], timeout)
        for stream in (out, err):
            stream.seek(0)
        return subprocess.CompletedProcess([module, *arguments], child.exitcode or 0, out.read(), err.read())


def start(module: str, *arguments: object, folder: Path | None = None) -> multiprocessing.Process:
    """The same in the background, unheard, for tests that kill it."""
    with open(os.devnull, "r+") as nothing:
        return _start([module, *map(str, arguments)], [nothing.fileno()] * 3, folder)


def start_and_kill(module: str, *arguments: object, after: float, folder: Path | None = None) -> bool:
    """Kill the same after so many seconds; whether it was still running."""
    child = start(module, *arguments, folder=folder)
    child.join(after)
    running = child.is_alive()
    child.kill()
    child.join()
    return running


def _start(words: list[str], files: list[int], folder: Path | None) -> multiprocessing.Process:
    child = multiprocessing.get_context("fork").Process(target=_become, args=(words, files, folder))
    child.start()
    return child


def _become(words: list[str], files: list[int], folder: Path | None) -> None:
    if folder is not None:
        os.chdir(folder)
    for number, file in enumerate(files):
        os.dup2(file, number)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
    sys.argv = words
    torch.set_num_threads(1)
    # What a new process has not got: somebody's logging, a command that has run, the last training's figures.
    metrics.reset()
    logging.getLogger().handlers.clear()
    sys.modules.pop(words[0], None)
    for name in ("best", "num_runs"):
        vars(checkpoint_utils.save_checkpoint).pop(name, None)
    atexit._clear()  # the test runner's
    status = 1
    try:
        status = _run(words[0])
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        # As at Python's own end. A worker that loads data would notice after five seconds, and be waited for so long.
        for worker in multiprocessing.active_children():
            worker.terminate()
        os._exit(status)


def _run(module: str) -> int:
    try:
        command = importlib.import_module(module)
        compat.apply()
        return (command.main if module == "fairseq_xl.cli.main" else command.cli_main)() or 0
    except SystemExit as end:
        return _status(end)
    except BaseException:
        try:
            sys.excepthook(*sys.exc_info())
        except SystemExit as end:
            return _status(end)
        return 1


def _status(end: SystemExit) -> int:
    return end.code if isinstance(end.code, int) else int(end.code is not None)
