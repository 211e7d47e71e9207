"""Settings of running an experiment and of reporting on it, which are the commands' options."""

from __future__ import annotations

from dataclasses import dataclass

from fairseq_xl.io.settings import option


@dataclass(kw_only=True)
class LaunchSettings:
    """Where the cells of an experiment run."""

    gpus: str | None = option("GPUs to use, such as 0,1; none: --gpus ''", None, shown="all there are")
    gpus_per_cell: int | None = option(
        "GPUs that fairseq trains one cell on. Cells run side by side on the others",
        None,
        low=1,
        metavar="N",
        shown="1",
    )
    jobs: int | None = option(
        "cells side by side on each GPU, or on the processors where there is none. A small model leaves most of a "
        "large GPU idle",
        None,
        low=1,
        metavar="N",
        shown="1",
    )
    launcher: str = option(
        "slurm hands each cell to a cluster through submitit (extra `cluster`)", "local", choices=("local", "slurm")
    )
    slurm: list[str] = option(
        "submitit's parameters, with a limit of time: timeout_min=600 slurm_partition=gpu gpus_per_node=1 …",
        [],
        metavar="NAME=VALUE",
    )


@dataclass(kw_only=True)
class ReportSettings:
    """What a report shows of an experiment's runs, and how it tests differences. Some options are for one kind of runs;
    a report of another kind refuses them."""

    beam: int = option("translations: width that systems are compared at", 5)
    scores: str | None = option(
        "translations: set of scores to report: test, the recipe's own test set; the name of a recipe's --test; or "
        "test.unknown_by_… where unknown words were replaced",
        None,
        metavar="SET",
        shown="test where there is one, else the only set",
    )
    test: str = option(
        "translations: paired test over sentences: ar, approximate randomisation, or bs, bootstrap, which is faster",
        "ar",
        choices=("ar", "bs"),
    )
    samples: int = option(
        "trials of that test, or draws for the intervals of classes and pairs; fewer for a quick look",
        0,
        low=0,
        high=1_000_000,
        shown="sacreBLEU's, 10000 for ar and 1000 for bs; 2000 draws",
    )
    compare: list[tuple[str, str]] = option(
        "translations: two systems whose translations to show side by side; repeatable",
        [],
        metavar="SYSTEM",
        shown="the first baseline and the best other system",
    )
    paper: bool = option("pairs: put the figures of Hadgu 2018 beside (for its Spanish pairs)", False)
