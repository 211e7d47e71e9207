"""A Slurm of two nodes on this machine, in a folder and on ports of its own: nothing of the system is touched."""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "scontrol")
PACKAGES = ("munge", "slurmctld", "slurmd", "slurm-client")  # those of slurm-wlm that are needed
HOST = socket.gethostname().partition(".")[0]
NODES = (HOST, f"{HOST}-second")  # fairseq meets at the first, whose name has to be a machine's

# There is no database of past jobs (sacct), as on many a small cluster.
SETTINGS = """
ClusterName=tests
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmctldPort={ports[0]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
KillWait=2
SchedulerParameters=sched_interval=1
NodeName={nodes[0]} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs={cores} State=UNKNOWN
NodeName={nodes[1]} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs={cores} State=UNKNOWN
PartitionName=tests Nodes={nodes[0]},{nodes[1]} Default=YES State=UP
"""


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def find() -> None:
    """See that Slurm is there; in CI bring it. Skips the test where it can be neither."""
    if os.geteuid() != 0:
        pytest.skip("Slurm is not started, which asks for root")
    if _there():
        return
    if not os.environ.get("CI") or shutil.which("apt-get") is None:
        pytest.skip(f"Slurm is not installed: apt-get install {' '.join(PACKAGES)}")
    # One process of the tests brings it for all.
    with (Path(tempfile.gettempdir()) / "fairseq_xl.tests.apt").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _there():
            return
        install = ["apt-get", "install", "--yes", "--no-install-recommends", *PACKAGES]
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (["apt-get", "update"], install):
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=600)
        if done.returncode:
            pytest.skip(f"Slurm is not installed, and apt-get does not bring it: {done.stderr[-500:]}")


def _there() -> bool:
    return all(map(shutil.which, PROGRAMS))


@contextmanager
def cluster() -> Iterator[dict[str, str]]:
    """What the environment needs for commands to find it; it ends with the block, and so do its jobs."""
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))  # a short name: those of sockets are
    folder.chmod(0o755)
    key = folder / "munge.key"
    key.touch(0o600)
    key.write_bytes(os.urandom(128))
    files = {"socket": "munge.socket", "pid-file": "munged.pid", "log-file": "munged.log", "seed-file": "munged.seed"}
    own = [f"--{name}={folder / file}" for name, file in files.items()]
    (folder / "state").mkdir()
    cores = os.cpu_count()
    text = SETTINGS.format(folder=folder, host=HOST, nodes=NODES, ports=free_ports(3), cores=cores)
    (folder / "slurm.conf").write_text(text, encoding="utf-8")
    environment = {"SLURM_CONF": str(folder / "slurm.conf")}
    daemons = (
        ["munged", "--foreground", f"--key-file={key}", *own],
        ["slurmctld", "-D"],
        *(["slurmd", "-D", "-N", name] for name in NODES),
    )
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        for daemon in daemons:
            # It ends with this process, whatever becomes of that.
            stack.enter_context(_started(["setpriv", "--pdeathsig", "TERM", *daemon], environment))
            if daemon[0] == "munged":
                _wait((folder / "munge.socket").exists, folder)
        idle = ["sinfo", "--noheader", "--states=idle", "--format=%D"]
        _wait(lambda: _run(idle, environment).stdout.strip() == str(len(NODES)), folder)
        yield environment
        _run(["scancel", "--user=root"], environment)


@contextmanager
def _started(command: list[str], environment: dict[str, str]) -> Iterator[None]:
    silent = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    daemon = subprocess.Popen(command, env={**os.environ, **environment}, **silent)
    try:
        yield
    finally:
        daemon.terminate()
        try:
            daemon.wait(30)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()


def _wait(ready: Callable[[], bool], folder: Path) -> None:
    deadline = time.monotonic() + 60
    while not ready():
        logs = [path.read_text(errors="replace")[-2000:] for path in folder.glob("*.log")]
        assert time.monotonic() < deadline, "\n".join(logs)
        time.sleep(0.1)


def _run(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    everything = {**os.environ, **environment}
    return subprocess.run(command, env=everything, capture_output=True, text=True, check=False, timeout=60)
