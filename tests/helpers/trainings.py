"""Trainings and validations in the tests' process, and what every one of the suite's must do."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import logging
import math
import shlex
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True, scope="module")
def _no_metrics_of_others() -> None:
    """fairseq keeps what was logged last for the whole process: a name may have meant something else there."""
    from fairseq.logging import metrics

    metrics.reset()


@contextlib.contextmanager
def kept_logging() -> Iterator[None]:
    """fairseq-validate takes the root logger's handlers away, and gives it one that writes where stdout is then."""
    root = logging.getLogger()
    level, handlers = root.level, root.handlers[:]
    try:
        yield
    finally:
        root.setLevel(level)
        root.handlers[:] = handlers


@pytest.fixture(autouse=True)
def _no_handlers_of_others() -> Iterator[None]:
    """The stdout of one test is closed in the next, where every message would be an error."""
    with kept_logging():
        yield


@pytest.fixture(scope="session")
def fairseq_train() -> Callable[[str], None]:
    """``fairseq_train("DATA --task …")`` as the command would, in this process."""
    import in_process

    return partial(in_process.run, "train")


# Of a validation's figures those that depend on the time, on how many batches were summed at once, or on the past.
NOT_OF_THE_MODEL = {"wps", "ups", "wall", "train_wall", "wpb", "bsz", "num_updates"}


def last_figures(lines: Iterable[str]) -> dict[str, float]:
    """Loss, accuracy … of the last validation that ``--log-format json`` shows in a log, by their names."""
    *_, last = (line[line.index("{") :] for line in lines if '"valid_loss":' in line)
    found = {name.removeprefix("valid_"): value for name, value in json.loads(last).items() if name != "epoch"}
    return {name: float(value) for name, value in found.items() if name not in NOT_OF_THE_MODEL}


@pytest.fixture(scope="session")
def validate() -> Callable[[str, Path], dict[str, float]]:
    """``validate("DATA --task …", CHECKPOINT)``: the figures that fairseq-validate finds, in this process.

    The line may be that of the training, of which the task and the batch size are taken.
    """
    import fairseq_cli.validate
    from fairseq import options
    from fairseq.dataclass.utils import convert_namespace_to_omegaconf

    from fairseq_xl import compat

    compat.apply()
    trained = argparse.ArgumentParser()
    for option in ("--task", "--batch-size"):
        trained.add_argument(option, required=True)

    def run(line: str, checkpoint: Path) -> dict[str, float]:
        data, *others = shlex.split(line)
        known, _ = trained.parse_known_args(others)
        args = options.parse_args_and_arch(
            options.get_validation_parser(),
            [
                data,
                "--task",
                known.task,
                "--batch-size",
                known.batch_size,
                "--required-batch-size-multiple",
                "1",
                "--path",
                str(checkpoint),
                "--num-workers",
                "0",
                "--log-format",
                "json",
                "--cpu",
            ],
        )
        with kept_logging(), contextlib.redirect_stdout(io.StringIO()) as said:
            fairseq_cli.validate.main(convert_namespace_to_omegaconf(args))
        return last_figures(said.getvalue().splitlines())

    return run


@pytest.fixture(scope="session")
def assert_every_command_works(fairseq_train, validate, assert_same_training) -> Callable[[str, Path], None]:
    """A training of two short epochs that is interrupted in the second ends where a whole one does; fairseq-validate
    finds what the training did; and the mean of both epochs is a model, too."""
    from fairseq_xl.cli.main import main
    from fairseq_xl.training import checkpoints

    def check(line: str, folder: Path) -> None:
        line += " --required-batch-size-multiple 1 --num-workers 0 --seed 3 --max-epoch 2 --cpu --no-progress-bar"
        whole, parts = folder / "whole", folder / "parts"
        fairseq_train(f"{line} --save-dir {whole}")
        trained = checkpoints.read(whole / "checkpoint_last.pt")
        last = checkpoints.updates(trained)
        fairseq_train(f"{line} --save-dir {parts} --max-update {last - 1}")
        stopped = checkpoints.read(parts / "checkpoint_last.pt")["extra_state"]["train_iterator"]
        assert stopped["epoch"] == 2
        assert stopped["iterations_in_epoch"] > 0
        fairseq_train(f"{line} --save-dir {parts}")
        assert_same_training(trained, checkpoints.read(parts / "checkpoint_last.pt"))

        found = validate(line, whole / "checkpoint_last.pt")
        assert found["loss"] == pytest.approx(trained["extra_state"]["val_loss"], abs=1e-3)
        assert main(["translate", "average", str(whole), "--last", "2", "--output", str(folder / "mean.pt")]) == 0
        mean = validate(line, folder / "mean.pt")
        assert mean.keys() == found.keys()
        assert all(map(math.isfinite, mean.values()))

    return check


# fairseq's options whose names are not those of the configuration's sections.
OPTION_OF = {
    "task": "--task",
    "model": "--arch",
    "criterion": "--criterion",
    "optimizer": "--optimizer",
    "lr_scheduler": "--lr-scheduler",
}


def as_command_line(config: dict[str, dict[str, Any]]) -> str:
    """What the sections of a hydra configuration are as options of ``fairseq-train``."""
    words: list[str] = []
    for section, values in config.items():
        for name, value in values.items():
            if name == "_name":
                words += [OPTION_OF[section], value]
            elif (section, name) == ("task", "data"):
                words.insert(0, value)
            elif value is True:
                words.append(f"--{name.replace('_', '-')}")
            elif value is not False and value is not None:
                values = value if isinstance(value, list) else [value]
                words += [f"--{name.replace('_', '-')}", *map(str, values)]
    return shlex.join(words)


@pytest.fixture(scope="session")
def train_both_ways(fairseq_train) -> Callable[..., tuple[dict[str, Any], dict[str, Any]]]:
    """``train_both_ways("translation", DIR, "task.data=…")`` trains by hydra and from the command line.

    The configuration is that of recipes/config, the overrides are ``SECTION.NAME=VALUE`` as fairseq-hydra-train takes
    them, and the command line is made of both. Returns the two last checkpoints.
    """
    import fairseq_cli.hydra_train
    import hydra
    import in_process
    from fairseq.dataclass.initialize import hydra_init
    from omegaconf import OmegaConf

    from fairseq_xl import compat
    from fairseq_xl.training import checkpoints

    compat.apply()
    folder = ROOT / "recipes" / "config"

    def train(name: str, save: Path, *overrides: str) -> tuple[dict[str, Any], dict[str, Any]]:
        overrides = (*overrides, "common.cpu=true", f"common.user_dir={ROOT / 'fairseq_xl'}")
        in_process.forget()
        hydra_init(name)
        with hydra.initialize_config_dir(str(folder), version_base="1.1"):
            composed = hydra.compose(name, [*overrides, f"checkpoint.save_dir={save}/hydra"])
        fairseq_cli.hydra_train._hydra_main(composed)
        in_process.end_loading()

        changed = OmegaConf.from_dotlist([one.removeprefix("+") for one in overrides])
        config = OmegaConf.to_container(OmegaConf.merge(OmegaConf.load(folder / f"{name}.yaml"), changed))
        for not_fairseqs in ("defaults", "hydra"):
            del config[not_fairseqs]
        fairseq_train(f"{as_command_line(config)} --save-dir {save}/line")
        by_hydra, by_line = (checkpoints.read(save / way / "checkpoint_last.pt") for way in ("hydra", "line"))
        return by_hydra, by_line

    return train


@pytest.fixture(scope="session")
def assert_same_training() -> Callable[[dict[str, Any], dict[str, Any]], None]:
    """Two checkpoints of the same updates, validation loss and, to the bit, weights."""
    import torch

    from fairseq_xl.training import checkpoints

    def check(one: dict[str, Any], other: dict[str, Any]) -> None:
        assert checkpoints.updates(one) == checkpoints.updates(other) > 0
        assert one["extra_state"]["val_loss"] == other["extra_state"]["val_loss"]
        assert one["model"].keys() == other["model"].keys()
        for name, tensor in one["model"].items():
            assert torch.equal(tensor, other["model"][name]), name

    return check
