"""``fairseq-xl experiment run`` and ``status``: the cells of an experiment, and what has become of them."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.experiment.settings import LaunchSettings
from fairseq_xl.io.atomic import real_path
from fairseq_xl.io.settings import argument, option


@dataclass(kw_only=True)
class Run(LaunchSettings):
    """Run every cell (system and seed) of an experiment that is not done yet.

    A YAML file names systems, seeds and the recipe; recipes/experiments/ has some. A system's `loss` is the recipe's
    --loss, or the --system of recipes of classifiers and of pairs. Without `loss` it is the system's own name. Data are
    prepared once. A cell that fails does not stop the others. After an interruption or a failure run the same command
    again.
    """

    config: Path = argument("the experiment's YAML file")
    output: Path = option("folder for data, runs, logs and the state", alias="-o", metavar="DIR")
    set: list[str] = option(
        "options of the recipe, such as data=DIR mono=FILE. They replace those that the file gives all systems; what a "
        "system has of its own stays",
        [],
        metavar="NAME=VALUE",
    )
    only: list[str] = option("cells or systems to run, such as 'vmf*'", [], metavar="PATTERN", shown="all")
    dry_run: bool = option("print the commands and run none", False)

    def run(self) -> int:
        """Status 1 where a cell failed."""
        from fairseq_xl.experiment import config
        from fairseq_xl.experiment.launcher import make_launcher
        from fairseq_xl.experiment.progress import Display
        from fairseq_xl.experiment.runner import Runner, choose, claimed, commands

        experiment = config.load(self.config, self.set)
        cells = choose(experiment, self.only)
        for name, value in config.read_changes(self.set).items():
            if own := sorted({cell.system for cell in cells if cell.options[name] != value}):
                print(f"note: --set {name} leaves what is named for the system: {', '.join(own)}", file=sys.stderr)
        output = real_path(self.output)
        if self.dry_run:
            for command in commands(cells, output):
                print(shlex.join(command))
            return 0
        with claimed(output):
            launcher = make_launcher(self, output / "submitit")
            succeeded = Runner(experiment, cells, output, launcher, Display()).run()
        Status(output).run()
        return 0 if succeeded else 1


@dataclass
class Status:
    """Say what has become of each cell of an experiment, a line for each."""

    folder: Path = argument("--output of `fairseq-xl experiment run`", metavar="DIR")

    def run(self) -> None:
        from fairseq_xl.experiment.progress import status_lines

        for line in status_lines(self.folder):
            print(line)
