"""Which launcher settings ask for."""

from __future__ import annotations

import pytest

from fairseq_xl.experiment import launcher
from fairseq_xl.experiment.settings import LaunchSettings
from fairseq_xl.io.errors import InputError


def test_jobs_of_a_cluster_want_a_limit_of_time(tmp_path):
    """submitit's own limit of five minutes would end every training."""
    settings = LaunchSettings(launcher="slurm", slurm=["slurm_partition=gpu", "gpus_per_node=1"])
    with pytest.raises(InputError, match=r"gives every job 5 minutes: add timeout_min=MINUTES to --slurm"):
        launcher.make_launcher(settings, tmp_path)


@pytest.mark.parametrize("limit", ["timeout_min", "slurm_time"])
def test_a_limit_of_time_is_handed_to_submitit(tmp_path, monkeypatch, limit):
    monkeypatch.setattr(launcher, "SubmititLauncher", lambda *given: given)
    settings = LaunchSettings(launcher="slurm", slurm=["slurm_partition=gpu", f"{limit}=600"])
    found = launcher.make_launcher(settings, tmp_path)
    assert found == (tmp_path, "slurm", {"slurm_partition": "gpu", limit: 600})
