"""Workers do not outlive whoever started them, and one that is killed is said."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.text.workers import workers

ROOT = Path(__file__).resolve().parents[2]
WAITS = """
import os, time
from fairseq_xl.text.workers import workers
if __name__ == "__main__":
    with workers(2, "waits") as pool:
        print(*{pool.submit(os.getpid).result() for _ in range(50)}, flush=True)
        pool.submit(time.sleep, 900).result()
"""


def test_a_killed_worker_is_said() -> None:
    with pytest.raises(InputError, match="a process that reads was killed, perhaps for want of memory"):  # noqa: SIM117
        with workers(2, "reads") as pool:
            pool.submit(os._exit, 9).result()


def is_alive(process: int) -> bool:
    state = Path(f"/proc/{process}/stat")
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux's /proc")
def test_workers_end_with_a_killed_parent(tmp_path: Path) -> None:
    script = tmp_path / "waits.py"
    script.write_text(WAITS)
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env=env)
    started = [int(number) for number in parent.stdout.readline().split()]
    assert started
    assert all(map(is_alive, started))
    parent.kill()
    parent.wait()
    parent.stdout.close()
    until = time.monotonic() + 60
    while any(map(is_alive, started)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(is_alive, started))
