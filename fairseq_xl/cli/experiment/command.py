"""``fairseq-xl experiment``: run the cells of an experiment, and report on them."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
from pathlib import Path

from fairseq_xl.cli.experiment import curves
from fairseq_xl.experiment import config, reporting
from fairseq_xl.experiment.launcher import Launcher, LocalLauncher, SubmititLauncher, local_slots
from fairseq_xl.experiment.progress import Display, minutes
from fairseq_xl.experiment.runner import Runner, choose, claimed, commands, lock_of
from fairseq_xl.experiment.state import RUNNING, State
from fairseq_xl.io.atomic import is_held
from fairseq_xl.io.errors import InputError
from fairseq_xl.report import record


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Run many systems with many seeds through one recipe, as a YAML file names them (recipes/experiments/ has "
        "some), and write the tables and figures of a paper from what they leave."
    )
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP")
    run_step = steps.add_parser(
        "run",
        help="run every cell that is not done yet",
        description="Run every cell (system and seed) that is not done yet. Data are prepared once; a cell that "
        "fails takes no other with it; after an interruption or a failure run the same command again.",
    )
    run_step.set_defaults(function=run_cells)
    run_step.add_argument("config", type=Path, help="the experiment's YAML file")
    run_step.add_argument("--out", type=Path, required=True, help="folder for data, runs, logs and the state")
    run_step.add_argument(
        "--set",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME=VALUE",
        dest="changes",
        help="options of the recipe for every cell, such as data=DIR mono=FILE; they go before the file's",
    )
    run_step.add_argument(
        "--only", nargs="+", default=[], metavar="PATTERN", help="cells or systems to run, such as 'vmf*'"
    )
    run_step.add_argument("--dry-run", action="store_true", help="print the commands and run none")
    run_step.add_argument("--gpus", help="GPUs to use, such as 0,1 (default: all there are; none: --gpus '')")
    run_step.add_argument(
        "--gpus-per-cell",
        type=_positive,
        metavar="N",
        help="GPUs that fairseq trains one cell on (default: 1); cells run side by side on the others",
    )
    run_step.add_argument(
        "--jobs",
        type=_positive,
        metavar="N",
        help="cells side by side on each GPU, or on the processors where there is none (default: 1); a small model "
        "leaves most of a large GPU idle",
    )
    run_step.add_argument(
        "--launcher",
        choices=("local", "slurm"),
        default="local",
        help="slurm hands each cell to a cluster through submitit (extra `cluster`)",
    )
    run_step.add_argument(
        "--slurm",
        nargs="+",
        default=[],
        metavar="NAME=VALUE",
        help="submitit's parameters: slurm_partition=gpu gpus_per_node=1 cpus_per_task=8 timeout_min=600 …",
    )
    report_step = steps.add_parser("report", help="write tables, figures and a page from the finished runs")
    reporting.configure(report_step)
    report_step.set_defaults(function=reporting.report)
    for name, module in (("curves", curves), ("record", record)):
        step = steps.add_parser(name)
        module.configure(step)
        step.set_defaults(function=module.run)
    status_step = steps.add_parser("status", help="say what has become of each cell")
    status_step.set_defaults(function=show_status)
    status_step.add_argument("out", type=Path, metavar="DIR", help="--out of the run")


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is no number of 1 or more")
    return number


def run(args: argparse.Namespace) -> int:
    """Do the chosen step."""
    return args.function(args) or 0


def run_cells(args: argparse.Namespace) -> int:
    """``fairseq-xl experiment run``; status 1 where a cell failed."""
    experiment = config.load(args.config, args.changes)
    cells = choose(experiment, args.only)
    out = args.out.resolve()
    if args.dry_run:
        for command in commands(cells, out):
            print(shlex.join(command))
        return 0
    with claimed(out):
        succeeded = Runner(experiment, cells, out, _launcher(args, out), Display()).run()
    show_status(args)
    return 0 if succeeded else 1


def _launcher(args: argparse.Namespace, out: Path) -> Launcher:
    if args.launcher == "slurm":
        for option in ("gpus", "gpus_per_cell", "jobs"):
            if getattr(args, option) is not None:
                raise InputError(
                    f"--{option.replace('_', '-')} is for this machine: on a cluster each cell is a job, which "
                    "--slurm gpus_per_node=N gives GPUs"
                )
        parameters = dict(_parameter(text) for text in args.slurm)
        return SubmititLauncher(out / "submitit", "slurm", parameters)
    if args.slurm:
        raise InputError("--slurm is for --launcher slurm: give both or neither")
    named = args.gpus is not None
    gpus = [gpu for gpu in args.gpus.split(",") if gpu] if named else visible_gpus()
    return LocalLauncher(local_slots(gpus, args.gpus_per_cell or 1, args.jobs or 1, hide=named))


def _parameter(text: str) -> tuple[str, int | str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InputError(f"--slurm {text!r}: write NAME=VALUE")
    return name, int(value) if value.isdigit() else value


def visible_gpus() -> list[str]:
    """The numbers of this machine's NVIDIA GPUs, as far as CUDA_VISIBLE_DEVICES shows them."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is not None:
        return [gpu.strip() for gpu in named.split(",") if gpu.strip() not in ("", "-1")]
    try:
        listed = subprocess.run(
            ["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return []  # no driver, so no GPU
    return listed.stdout.split()


def show_status(args: argparse.Namespace) -> None:
    """``fairseq-xl experiment status``: a line for each cell.

    A cell that the file calls running, while neither it nor a runner is there, is called killed: the next run goes
    on with it.
    """
    path = args.out / "experiment.json"
    if not path.is_file():
        raise InputError(f"there is no {path}: give the --out of `fairseq-xl experiment run`")
    state = State(path)
    width = max(map(len, state.systems), default=0)
    attended = is_held(lock_of(args.out))
    for name in state.systems:
        cell = state[name]
        gone = cell.status == RUNNING and not attended and not is_held(lock_of(args.out, name))
        status = "killed" if gone else cell.status
        peak = "" if cell.peak_MiB is None else f"  {cell.peak_MiB:,.0f} MiB"
        spent = minutes(cell.seconds) if cell.seconds else ""
        print(f"{name:{width}}  {status:8} {spent:>10}{peak}{'  ' + cell.error if cell.error else ''}".rstrip())
