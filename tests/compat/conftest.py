"""A corpus of a few sentences, and fairseq's commands run inside the test process."""

from __future__ import annotations

import itertools
import multiprocessing
from collections.abc import Callable
from pathlib import Path

import in_process
import parallel_text
import pytest
import torch

TINY_LSTM = (
    "--arch lstm --encoder-embed-dim 8 --encoder-hidden-size 8 --decoder-embed-dim 8 "
    "--decoder-hidden-size 8 --decoder-out-embed-dim 8 --dropout 0.2 "
)


@pytest.fixture
def command() -> Callable[[str, str], None]:
    """``command("train", "DATA --arch …")`` runs one of fairseq's commands in this process."""
    return in_process.run


def _in_child(name: str, line: str) -> None:
    torch.set_num_threads(1)  # a forked child must not use its parent's thread pool
    in_process.run(name, line)


@pytest.fixture
def start() -> Callable[[str, str], multiprocessing.Process]:
    """``start("train", …)`` runs a command in a child process, which can be killed."""
    context = multiprocessing.get_context("fork")
    children: list[multiprocessing.Process] = []

    def run(name: str, line: str) -> multiprocessing.Process:
        child = context.Process(target=_in_child, args=(name, line))
        children.append(child)
        child.start()
        return child

    yield run
    for child in children:
        child.kill()
        child.join()


def sentences(count: int) -> list[tuple[str, str]]:
    """(German, English), all different, in a fixed order."""
    people = [("der Hund", "the dog"), ("die Frau", "the woman"), ("ein Kind", "a child")]
    deeds = [("sieht", "sees"), ("liebt", "loves"), ("findet", "finds"), ("malt", "paints")]
    things = [("das Haus", "the house"), ("ein Boot", "a boat"), ("den Ball", "the ball")]
    when = [("heute", "today"), ("oft", "often"), ("", "")]
    pairs = [
        tuple(" ".join(part[side] for part in parts).strip() for side in (0, 1))
        for parts in itertools.product(people, deeds, things, when)
    ]
    return (pairs * (count // len(pairs) + 1))[:count]


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Preprocessed de-en data: 90 sentences to train on, 10 to validate and to test."""
    pairs = sentences(100)
    folder = tmp_path_factory.mktemp("data")
    return parallel_text.prepare(folder, train=pairs[:90], valid=pairs[90:], test=pairs[90:])


@pytest.fixture(scope="session")
def tiny_lstm() -> str:
    """The options of a small stock ``lstm``."""
    return TINY_LSTM


@pytest.fixture(scope="session")
def trained(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkpoint of a stock ``lstm`` after a few updates, chosen by BLEU."""
    folder = tmp_path_factory.mktemp("trained")
    in_process.run(
        "train",
        f"{corpus} {TINY_LSTM} --criterion cross_entropy --optimizer adam --lr 0.01 "
        f"--max-tokens 200 --max-epoch 1 --save-dir {folder} --num-workers 0 --seed 1 "
        '--eval-bleu --eval-bleu-args \'{"beam":1,"max_len_b":9}\' '
        "--best-checkpoint-metric bleu --maximize-best-checkpoint-metric --no-progress-bar",
    )
    return folder / "checkpoint_best.pt"
