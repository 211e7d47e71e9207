"""The launcher that settings ask for: this machine, or a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fairseq_xl.experiment.local import LocalLauncher, local_slots, visible_gpus
from fairseq_xl.experiment.settings import LaunchSettings
from fairseq_xl.experiment.slurm import SubmititLauncher
from fairseq_xl.experiment.tasks import Launcher
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import names_and_values, refuse_given

TIME_LIMITS = ("timeout_min", "slurm_time")
"""submitit's names of the minutes that a job may take. Without one it gives each five, which no training ends in."""


def make_launcher(settings: LaunchSettings, folder: Path) -> Launcher:
    """The launcher that the settings ask for; submitit's own files go into ``folder``.

    Raises:
        InputError: settings that do not go together, fewer GPUs than a cell wants, jobs of a cluster without a limit
            of time, or no submitit.
    """
    if settings.launcher == "slurm":
        local = ["gpus", "gpus_per_cell", "jobs"]
        refuse_given(settings, local, "is for this machine, and --slurm gpus_per_node=N gives a cluster's job GPUs")
        parameters = _parameters(settings.slurm)
        if not parameters.keys() & set(TIME_LIMITS):
            raise InputError(
                "--launcher slurm without a limit of time, where submitit gives every job 5 minutes: "
                "add timeout_min=MINUTES to --slurm, enough for one cell"
            )
        return SubmititLauncher(folder, "slurm", parameters)
    if settings.slurm:
        raise InputError("--slurm is for --launcher slurm: give both or neither")
    named = None if settings.gpus is None else [gpu for gpu in settings.gpus.split(",") if gpu]
    gpus = visible_gpus() if named is None else named
    slots = local_slots(gpus, settings.gpus_per_cell or 1, settings.jobs or 1, hide=named is not None)
    return LocalLauncher(slots)


def _parameters(words: Sequence[str]) -> dict[str, int | str]:
    given = names_and_values(words, "--slurm")
    return {name: int(value) if value.isdecimal() else value for name, value in given.items()}
