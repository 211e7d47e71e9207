"""Forks that stand in for commands: they see what a new process sees, end as it ends, and die with their client."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import forkserver
import pytest

ROOT = Path(__file__).resolve().parents[1]
# fairseq imports whatever --user-dir names.
LOOK = """
import json, logging, os, pathlib, random, signal, sys, threading
import numpy, torch

mask = os.umask(0)
os.umask(mask)
streams = (sys.stdin, sys.stdout, sys.stderr)
found = {
    "words": sys.argv[1:], "command": os.path.basename(sys.argv[0]), "folder": os.getcwd(), "umask": mask,
    "environment": {name: value for name, value in os.environ.items() if name not in ("_", "PATH")},
    "path": sys.path[:2], "plugin": "fairseq_xl" in sys.modules, "given": sys.stdin.read(),
    "ninth": os.read(9, 100).decode(), "terminals": [os.isatty(number) for number in range(3)],
    "streams": [(one.encoding, one.errors, one.line_buffering, one.write_through) for one in streams],
    "signals": {number.name: str(signal.getsignal(number)) for number in signal.Signals},
    "threads": [threading.active_count(), torch.get_num_threads()],
    "logging": [logging.getLogger().level, len(logging.getLogger().handlers)],
}
pathlib.Path("found.json").write_text(json.dumps(found))
pathlib.Path("random.json").write_text(json.dumps([random.random(), numpy.random.rand(), torch.rand(1).item()]))
print("said")
print("complained", file=sys.stderr)
sys.exit(7)
"""
SLEEP = """
import os, pathlib, subprocess, sys, time

child = subprocess.Popen(["sleep", "600"], stderr=subprocess.DEVNULL)
pathlib.Path("new").write_text(f"{os.getpid()} {child.pid}")
os.rename("new", "processes")
time.sleep(600)
"""
TRAIN = ["fairseq-train", "some data", "--arch", "lstm", "--user-dir"]


def probe(folder: Path, code: str) -> list[str]:
    """Words of a fairseq-train that runs CODE."""
    name = folder / f"probe_{folder.name}"
    name.mkdir()
    (name / "__init__.py").write_text(code)
    return [*TRAIN, str(name)]


def wait_until(true: Callable[[], object], seconds: float = 900) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def is_running(process: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False


def sleeping(folder: Path, environment: dict[str, str], **options: object) -> tuple[subprocess.Popen[str], list[int]]:
    """A command that sleeps, and the processes of its work."""
    script = f"trap : USR1; {shlex.join(probe(folder, SLEEP))}; exit $?"

    def heed() -> None:  # SIGINT, which what runs in a shell's background ignores
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    command = ["bash", "-c", script]
    process = subprocess.Popen(command, env=environment, cwd=folder, text=True, preexec_fn=heed, **options)
    wait_until((folder / "processes").exists)
    return process, [int(word) for word in (folder / "processes").read_text().split()]


def client_of(shell: int) -> int:
    (child,) = Path(f"/proc/{shell}/task/{shell}/children").read_text().split()
    return int(child)


@pytest.mark.slow  # for the command that is no fork
def test_a_fork_sees_what_a_process_sees_and_ends_like_it(forks: forkserver.Server, tmp_path: Path) -> None:
    (tmp_path / "nine").write_text("nine")
    words = probe(tmp_path, LOOK)
    script = f"umask 027; trap '' INT USR1; {shlex.join(words)} 9<nine"
    environment = {**os.environ, "COLOUR": "blue", "PYTHONUNBUFFERED": "1"}
    forked = forks.environment(environment)
    folders = forked["PATH"].split(os.pathsep)
    assert folders.pop(0) == str(forks.folder)
    real = {**forked, "PATH": os.pathsep.join(folders)}
    results, found, drawn = [], [], []
    for env in (real, forked, forked):
        done = subprocess.run(
            ["bash", "-c", script],
            env=env,
            cwd=tmp_path,
            input="é\n",
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=900,
        )
        # Before that, a process tells what its imports have to say.
        results.append((done.returncode, done.stdout.splitlines()[-1], done.stderr.splitlines()[-1]))
        found.append(json.loads((tmp_path / "found.json").read_text()))
        drawn.append(json.loads((tmp_path / "random.json").read_text()))
    assert results == [(7, "said", "complained")] * 3
    # Where fairseq found the probe, and the command's own folder.
    assert [one["path"][0] for one in found] == [str(tmp_path)] * 3
    assert found[1] == found[2] == {**found[0], "path": [str(tmp_path), str(forks.folder)]}
    assert found[0]["environment"]["COLOUR"] == "blue"
    assert (found[0]["given"], found[0]["ninth"], found[0]["umask"]) == ("é\n", "nine", 0o27)
    assert all(one != other for one, other in zip(drawn[1], drawn[2], strict=True))


@pytest.mark.parametrize("words", [["--version"], ["user-dir"], ["vector"], ["vectors", "random", "x"], []])
def test_what_the_plugins_command_says_is_what_a_process_says(words, run_cli, forked_cli) -> None:
    real, forked = run_cli(*words), forked_cli(*words)
    assert (forked.returncode, forked.stdout, forked.stderr) == (real.returncode, real.stdout, real.stderr)


def test_pipes_and_files_of_a_script(forks: forkserver.Server, tmp_path: Path) -> None:
    script = "printf 'one two three four\\n' | sacrebleu <(printf 'one two three four\\n') -b -w 0 2>err"
    done = forks.run("bash", "-c", script, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "100\n"), done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR2])
def test_a_signal_to_the_client_reaches_the_work_which_ends_both(number, forks, tmp_path: Path) -> None:
    process, (work, child) = sleeping(tmp_path, forks.environment(), stderr=subprocess.PIPE)
    os.kill(client_of(process.pid), number)
    _, errors = process.communicate(timeout=900)
    assert process.returncode == 128 + number or process.returncode == -number
    assert ("KeyboardInterrupt" in errors) == (number == signal.SIGINT)
    assert not is_running(work)
    os.kill(child, signal.SIGKILL)  # as a process's own, it goes on


@pytest.mark.parametrize("group", [False, True], ids=["the client", "its group"])
def test_to_kill_the_client_is_to_kill_the_work(group: bool, forks, tmp_path: Path) -> None:
    process, works = sleeping(tmp_path, forks.environment(), start_new_session=True)
    assert all(map(is_running, works))
    if group:
        os.killpg(process.pid, signal.SIGKILL)
    else:
        os.kill(client_of(process.pid), signal.SIGKILL)
    assert process.wait(900) == (-signal.SIGKILL if group else 128 + signal.SIGKILL)
    wait_until(lambda: not any(map(is_running, works)))


def test_to_kill_the_work_is_to_kill_the_client(forks, tmp_path: Path) -> None:
    process, (work, child) = sleeping(tmp_path, forks.environment())
    os.kill(work, signal.SIGKILL)
    assert process.wait(900) == 128 + signal.SIGKILL
    os.kill(child, signal.SIGKILL)


def test_what_cannot_change_any_more_is_refused(forked_cli) -> None:
    done = forked_cli("user-dir", env={**os.environ, "PYTHONHASHSEED": "77"})
    assert done.returncode == 1
    assert "a fork cannot follow: [('PYTHONHASHSEED', '77')]" in done.stderr


@pytest.mark.slow  # a server of its own
def test_nothing_outlives_tests_that_were_killed(tmp_path: Path) -> None:
    server = "f.Server(['fairseq_cli.train'])"
    code = f"import forkserver as f, sys; s = {server}; print(s.home, s.process.pid, flush=True); sys.stdin.read()"
    tests = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "tests" / "helpers")},
    )
    home, server = tests.stdout.readline().split()
    environment = {**os.environ, "PATH": f"{home}/bin{os.pathsep}{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}
    process, works = sleeping(tmp_path, environment, stderr=subprocess.PIPE)
    tests.kill()
    tests.communicate()
    _, errors = process.communicate(timeout=900)
    assert errors == "error: the server of forks has ended\n"
    assert process.returncode == 1
    wait_until(lambda: not any(map(is_running, [*works, int(server)])))
    assert not Path(home).exists()


def test_it_ends_whoever_else_has_its_input() -> None:
    """A process forked from the tests while the server runs, as torch's loaders are, inherits the pipe."""
    server = forkserver.Server(others=())
    holder = os.fork()
    if holder == 0:
        time.sleep(600)
        os._exit(0)
    try:
        began = time.monotonic()
        server.close()
        assert time.monotonic() - began < 60
    finally:
        os.kill(holder, signal.SIGKILL)
        os.waitpid(holder, 0)


def test_a_fork_that_is_killed_takes_no_lock_of_the_others_along(forks, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os, sys, tqdm\n"
        "assert tqdm.tqdm.get_lock().acquire(timeout=20)\n"
        "os.kill(os.getpid(), int(sys.argv[1]))\n"
    )
    for number in (signal.SIGKILL, signal.SIGTERM):
        assert forks.run("python-script", script, int(number), timeout=60).returncode == -number
