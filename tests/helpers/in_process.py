"""fairseq's commands in the tests' own process, where an import costs nothing and a debugger stops."""

from __future__ import annotations

import gc
import multiprocessing
import shlex

import fairseq_cli.generate
import fairseq_cli.interactive
import fairseq_cli.preprocess
import fairseq_cli.train
from fairseq import checkpoint_utils, options
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from torch.utils.data import dataloader

from fairseq_xl import compat

compat.apply()  # once more: fairseq's commands were not loaded when the package was

COMMANDS = {
    "train": (fairseq_cli.train, options.get_training_parser),
    "generate": (fairseq_cli.generate, options.get_generation_parser),
    "interactive": (fairseq_cli.interactive, options.get_interactive_generation_parser),
}


def run(name: str, line: str) -> None:
    """``run("train", "DATA --arch …")`` as ``fairseq-train`` would."""
    module, parser = COMMANDS[name]
    forget()
    args = options.parse_args_and_arch(parser(), shlex.split(line))
    try:
        module.main(convert_namespace_to_omegaconf(args))
    finally:
        end_loading()


def preprocess(line: str) -> None:
    """As ``fairseq-preprocess`` would."""
    fairseq_cli.preprocess.main(options.get_preprocessing_parser().parse_args(shlex.split(line)))


def forget() -> None:
    """fairseq keeps the last training's best score and patience in attributes of functions."""
    for function in (checkpoint_utils.save_checkpoint, fairseq_cli.train.should_stop_early):
        for name in ("best", "num_runs"):
            vars(function).pop(name, None)


def end_loading() -> None:
    """End the processes that load data.

    An iterator that fairseq left in a cycle is collected together with its queues. It cannot tell its workers to end
    then, and waits for each of them for five seconds.
    """
    if multiprocessing.active_children():
        for found in gc.get_objects():
            if type(found) is dataloader._MultiProcessingDataLoaderIter:
                found._shutdown_workers()
