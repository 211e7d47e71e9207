"""Cells that run, fail, are killed and go on."""

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from fairseq_xl.experiment import runner
from fairseq_xl.experiment.config import load
from fairseq_xl.experiment.local import LocalLauncher, local_slots
from fairseq_xl.experiment.progress import Display
from fairseq_xl.experiment.runner import Runner, choose, claimed, ended_by_signals, last_line
from fairseq_xl.experiment.state import DONE, FAILED, PENDING, RUNNING, State
from fairseq_xl.experiment.tasks import Task
from fairseq_xl.io.errors import InputError


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(runner, "POLL_SECONDS", 0.01)


def run(playground, only=(), slots=None):
    experiment = load(playground.config)
    launcher = LocalLauncher(slots or [{}])
    made = Runner(experiment, choose(experiment, list(only)), playground.out, launcher, Display(False))
    return made.run()


def state(playground) -> State:
    return State(playground.out / "experiment.json")


def test_every_cell_runs_once_after_one_preparation(playground, capsys):
    assert run(playground)
    calls = playground.calls()
    assert [("--prepare-only" in call) for call in calls] == [True, False, False, False]
    assert "--name vmf.seed3 --src de --size 8 --loss vmf --seed 3" in calls[1]
    cells = state(playground).cells
    assert [cell.status for cell in cells.values()] == [DONE] * 3
    assert all(cell.seconds > 0 and cell.peak_MiB > 1 and cell.attempts == 1 for cell in cells.values())
    playground.forget_calls()
    assert run(playground)
    assert playground.calls() == []
    assert "3 cells were done before" in capsys.readouterr().err


def test_a_failure_costs_no_other_cell_and_is_tried_again(playground, capsys):
    told = playground.tell("vmf.seed3", "fails")
    assert not run(playground)
    cells = state(playground).cells
    assert [cell.status for cell in cells.values()] == [FAILED, DONE, DONE]
    assert cells["vmf.seed3"].error == "error: vmf.seed3 was told to fail"
    assert "vmf.seed3: FAILED: error: vmf.seed3 was told to fail" in capsys.readouterr().err
    told.unlink()
    playground.forget_calls()
    assert run(playground)
    assert len(playground.calls()) == 2, "its preparation and itself"
    assert state(playground)["vmf.seed3"].attempts == 2


def test_a_cell_that_cannot_be_started_costs_no_other_cell(playground):
    (playground.out / "logs" / "vmf.seed3.log").mkdir(parents=True)
    assert not run(playground)
    cells = state(playground).cells
    assert [cell.status for cell in cells.values()] == [FAILED, DONE, DONE]
    assert cells["vmf.seed3"].error.startswith("it could not be started: ")
    assert "Is a directory" in cells["vmf.seed3"].error


def test_the_state_is_saved_even_where_looking_at_the_jobs_fails(playground, monkeypatch):
    def broken(*_):
        raise MemoryError

    monkeypatch.setattr(Runner, "_ended", broken)
    with pytest.raises(MemoryError):
        run(playground)
    assert RUNNING not in [cell.status for cell in state(playground).cells.values()]


def test_data_that_cannot_be_prepared(playground):
    playground.tell("prepare", "fails")
    assert not run(playground)
    assert len(playground.calls()) == 1
    for cell in state(playground).cells.values():
        assert cell.status == FAILED
        assert cell.error == "its data could not be prepared: error: prepare was told to fail"


def test_a_recipe_that_leaves_no_record(playground):
    playground.tell("vmf.seed3", "forgets")
    assert not run(playground, only=["vmf"])
    assert state(playground)["vmf.seed3"].error == "its recipe ended without a record.json"


def test_memory_is_that_of_training(playground):
    playground.tell("vmf.seed3", "trained")
    assert run(playground)
    assert state(playground)["vmf.seed3"].peak_MiB is None
    assert state(playground)["cosine.seed1"].peak_MiB > 1


USES = """
recipe: recipe.sh
systems:
  uses: {options: {vectors: "{run:first}/best.pt"}}
  first:
  other:
"""


def test_a_run_that_uses_another_ones_waits_for_it(playground):
    playground.write(USES)
    waiting = playground.tell("first.seed1", "slow")
    threading.Timer(1, waiting.unlink).start()
    assert run(playground, slots=[{}, {}])
    calls = playground.calls()
    assert ["--prepare-only" in call for call in calls] == [True, False, False, False]
    assert "--name uses.seed1" in calls[3]
    assert f"--vectors {playground.out}/runs/first.seed1/best.pt" in calls[3]
    playground.forget_calls()
    assert run(playground)
    assert playground.calls() == []
    playground.write(USES.replace("first:", "first: {fairseq-train: --margin 1}"))
    assert run(playground)
    assert ["--name first" in call for call in playground.calls()] == [False, True, False], "and what was made of it"
    assert "--name uses.seed1" in playground.calls()[2]
    playground.write(USES.replace("first:", "first: {fairseq-train: --margin 2}"))
    assert run(playground, only=["first"])
    assert state(playground)["uses.seed1"].status == PENDING, "it was made of the run before"
    playground.forget_calls()
    assert run(playground)
    assert "--name uses.seed1" in playground.calls()[-1]


def test_a_run_that_uses_a_failed_one_or_one_that_is_not_done(playground):
    playground.write(USES)
    with pytest.raises(InputError, match=r"uses\.seed1 uses the run of first\.seed1, which is not done"):
        run(playground, only=["uses", "other"])
    playground.tell("first.seed1", "fails")
    assert not run(playground)
    cells = state(playground).cells
    assert [cells[f"{name}.seed1"].status for name in ("uses", "first", "other")] == [FAILED, FAILED, DONE]
    assert cells["uses.seed1"].error == "it uses the run of first.seed1, which failed"


def test_only(playground):
    assert run(playground, only=["*.seed2"])
    assert [name for name, cell in state(playground).cells.items() if cell.status == DONE] == ["cosine.seed2"]
    assert list(state(playground).systems) == ["vmf.seed3", "cosine.seed1", "cosine.seed2"]
    with pytest.raises(InputError, match="matches no cell"):
        run(playground, only=["cross*"])


def test_a_changed_cell_runs_again(playground):
    run(playground)
    playground.forget_calls()
    playground.write(playground.config.read_text().replace("vmf: {", "vmf: {fairseq-train: --margin 1, "))
    assert run(playground)
    assert [call for call in playground.calls() if "--name" in call] == [
        f"--out {playground.out} --name vmf.seed3 --src de --size 8 --loss vmf --seed 3 -- --margin 1"
    ]


def test_a_changed_cell_that_is_not_chosen_is_no_longer_done(playground):
    run(playground)
    playground.write(playground.config.read_text().replace("vmf: {", "vmf: {label: other, fairseq-train: --margin 1, "))
    assert run(playground, only=["cosine"])
    cells = state(playground).cells
    assert [cell.status for cell in cells.values()] == [PENDING, DONE, DONE]


def test_cells_with_other_data_are_prepared_on_their_own(playground):
    playground.write(
        "recipe: recipe.sh\nsystems: {vmf: , cosine: {options: {transform: --center}}, l2: {options: {size: 4}}}"
    )
    assert run(playground)
    assert sum("--prepare-only" in call for call in playground.calls()) == 2


def test_every_gpu_has_a_cell_of_its_own(playground):
    told = [playground.tell(name, "slow") for name in ("vmf.seed3", "cosine.seed1", "cosine.seed2")]
    runs = threading.Thread(target=run, args=(playground,), kwargs={"slots": local_slots(["0", "1", "2"], 1, 1)})
    runs.start()
    wait_for(lambda: len(playground.calls()) == 4, "the cells do not run side by side")
    for path in told:
        path.unlink()
    runs.join()
    devices = [path.read_text().strip() for path in playground.out.glob("runs/*/devices")]
    assert sorted(devices) == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("gpus", "per_cell", "jobs", "slots"),
    [
        (["0", "1", "2"], 2, 1, [{"CUDA_VISIBLE_DEVICES": "0,1"}]),
        (["3", "5"], 1, 1, [{"CUDA_VISIBLE_DEVICES": "3"}, {"CUDA_VISIBLE_DEVICES": "5"}]),
        ([], 1, 1, [{}]),
    ],
)
def test_slots(gpus, per_cell, jobs, slots):
    assert local_slots(gpus, per_cell, jobs) == slots


def test_processors_are_shared(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert local_slots([], 1, 3) == [{"OMP_NUM_THREADS": "2"}] * 3
    # a job for each GPU before any has two
    slots = [(slot["CUDA_VISIBLE_DEVICES"], slot["OMP_NUM_THREADS"]) for slot in local_slots(["0", "1"], 1, 2)]
    assert slots == [("0", "2"), ("1", "2"), ("0", "2"), ("1", "2")]


def test_too_few_gpus():
    with pytest.raises(InputError, match="there are 1 GPUs"):
        local_slots(["0"], 2, 1)


def test_one_runner_at_a_time(playground):
    with claimed(playground.out), pytest.raises(InputError, match="another process"), claimed(playground.out):
        pass


RUN = """
import sys
from pathlib import Path
from fairseq_xl.experiment import runner
from fairseq_xl.experiment.config import load
from fairseq_xl.experiment.local import LocalLauncher
from fairseq_xl.experiment.progress import Display
experiment = load(Path(sys.argv[1]))
out = Path(sys.argv[2])
with runner.claimed(out):
    try:
        done = runner.Runner(experiment, experiment.cells, out, LocalLauncher([{}]), Display(False)).run()
    except KeyboardInterrupt:
        sys.exit(130)
sys.exit(not done)
"""


def start(playground, hangup=signal.SIG_DFL) -> subprocess.Popen:
    # named fairseq-xl, so that importing the package does not load fairseq
    code = f"import sys\n{RUN}"
    command = [sys.executable, "-c", code, str(playground.config), str(playground.out)]

    def heed() -> None:  # Tests that run in the background of a script inherit that these are ignored.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGHUP, hangup)

    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=heed)


def wait_for(condition, what: str) -> None:
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def is_running(playground, name: str) -> bool:
    path = playground.out / "experiment.json"
    return path.exists() and State(path)[name].status == RUNNING


def test_killed_runner_leaves_no_doubled_work(playground):
    """SIGKILL cannot be passed on: the cell goes on, and the next runner waits for it, unless it is interrupted."""
    slow = playground.tell("cosine.seed1", "slow")
    killed = start(playground)
    wait_for(lambda: is_running(playground, "cosine.seed1"), "the cell did not start")
    wait_for(lambda: len(playground.calls()) == 3, "the recipe did not start")
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    log = playground.out / "logs" / "cosine.seed1.log"
    for number in (1, 2):
        again = start(playground)
        waits = partial(lambda number: log.read_text().count("waiting for an earlier start") == number, number)
        wait_for(waits, "it did not wait")
        assert sum("--name cosine.seed1" in call for call in playground.calls()) == 1
        if number == 1:
            again.send_signal(signal.SIGINT)
            assert again.wait(60) == 130
    slow.unlink()
    assert again.wait(300) == 0
    assert sum("--name cosine.seed1" in call for call in playground.calls()) == 2, "which finds it done"
    assert sum("--name vmf.seed3" in call for call in playground.calls()) == 1


def test_killed_at_any_moment_goes_on(playground):
    last, draw = playground.tell("cosine.seed2", "slow"), random.Random(1)  # so that no runner comes to its end
    for _ in range(5):
        killed = multiprocessing.get_context("fork").Process(target=run, args=(playground,))
        killed.start()
        killed.join(draw.uniform(0, 0.5))
        assert killed.is_alive()
        killed.kill()
        killed.join()
    assert sum("--name cosine.seed2" in call for call in playground.calls()) <= 1, "the next one waits for it"
    last.unlink()
    assert run(playground)
    assert [cell.status for cell in state(playground).cells.values()] == [DONE] * 3
    playground.forget_calls()
    assert run(playground)
    assert playground.calls() == []


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_interrupted_runner_stops_its_cells(playground, number, status):
    playground.tell("cosine.seed1", "slow")
    stopped = start(playground)
    wait_for(lambda: len(playground.calls()) == 3, "the recipe did not start")
    stopped.send_signal(number)
    assert stopped.wait(300) == status
    assert state(playground)["cosine.seed1"].status == PENDING
    assert state(playground)["vmf.seed3"].status == DONE
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(playground.folder / "recipe.sh") not in listed


def test_a_runner_under_nohup_outlives_its_terminal(playground):
    playground.tell("cosine.seed1", "slow")
    stopped = start(playground, hangup=signal.SIG_IGN)
    wait_for(lambda: is_running(playground, "cosine.seed1"), "the cell did not start")
    stopped.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        stopped.wait(2)
    assert is_running(playground, "cosine.seed1")
    stopped.send_signal(signal.SIGINT)
    assert stopped.wait(300) == 130


def test_a_second_hang_up_does_not_end_the_clean_up():
    cleaned = []

    def work() -> None:
        with ended_by_signals():
            try:
                os.kill(os.getpid(), signal.SIGHUP)
                time.sleep(10)
            finally:
                os.kill(os.getpid(), signal.SIGHUP)
                cleaned.append(True)

    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it is ignored
    try:
        with pytest.raises(SystemExit) as ended:
            work()
        assert (ended.value.code, cleaned) == (129, [True])
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_task_that_starts_while_others_are_stopped_is_stopped_too(tmp_path, monkeypatch):
    started, spawn = threading.Event(), subprocess.Popen

    def slowly(*args, **options):
        started.set()
        time.sleep(0.5)  # stop() looks at what is running, and sees nothing
        return spawn(*args, **options)

    monkeypatch.setattr(subprocess, "Popen", slowly)
    launcher = LocalLauncher([{}])
    job = launcher.submit(Task("t", ["sleep", "60"], tmp_path / "log", tmp_path / "lock"))
    assert started.wait(10)
    launcher.stop()
    assert job.outcome().status == -signal.SIGTERM


def test_a_task_that_does_not_heed_is_killed(tmp_path):
    launcher = LocalLauncher([{}])
    script = f"trap '' TERM; touch {tmp_path}/up; while true; do sleep 0.1; done"
    job = launcher.submit(Task("t", ["bash", "-c", script], tmp_path / "log", tmp_path / "lock"))
    wait_for((tmp_path / "up").exists, "the task did not start")
    launcher.stop(patience=0.3)
    assert job.outcome().status == -signal.SIGKILL


def test_last_line(tmp_path: Path):
    log = tmp_path / "log"
    assert last_line(log) == "it left no output"
    log.write_bytes(b"one\n  two \xff \n\n \n")
    assert last_line(log) == "two \N{REPLACEMENT CHARACTER}"


def test_a_cluster_runs_the_same_cells(playground):
    """submitit's own stand-in for Slurm: each task in a process that knows nothing of this one."""
    pytest.importorskip("submitit", reason="extra `cluster` is not installed")
    from fairseq_xl.experiment.slurm import SubmititLauncher

    playground.tell("vmf.seed3", "fails")
    experiment = load(playground.config)
    launcher = SubmititLauncher(playground.out / "submitit", "local", {"timeout_min": 2})
    cells = choose(experiment, [])
    assert not Runner(experiment, cells, playground.out, launcher, Display(False)).run()
    cells_now = state(playground).cells
    assert [cell.status for cell in cells_now.values()] == [FAILED, DONE, DONE]
    assert cells_now["vmf.seed3"].error == "error: vmf.seed3 was told to fail"


def test_a_cluster_that_is_not_there(tmp_path, monkeypatch):
    pytest.importorskip("submitit", reason="extra `cluster` is not installed")
    from fairseq_xl.experiment.slurm import SubmititLauncher

    monkeypatch.setenv("PATH", str(tmp_path))  # this machine may have Slurm's commands
    with pytest.raises(InputError, match="submitit refuses"):
        SubmititLauncher(tmp_path, "slurm", {})
    with pytest.raises(InputError, match="submitit refuses"):
        SubmititLauncher(tmp_path, "local", {"no_such_parameter": 1})
