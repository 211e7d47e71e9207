"""Commands that are killed at any moment and started again end as if nothing had happened.

Training, tagging, crawling and the experiment runner, which go on where they were, have tests of their own:
compat/test_resuming.py, syntactic/data/test_prepare.py, corpus/crawling/test_crawl.py, experiment/test_runner.py.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from pathlib import Path

import forked
import pytest
import tqdm

pytestmark = pytest.mark.slow

PEOPLE = ["the man", "a woman", "my friend", "the old dog", "a red cat", "your neighbour", "the teacher", "a child"]
DEEDS = ["opens", "closes", "cancels", "wants", "finds", "loses", "buys", "sells", "paints", "forgets"]
THINGS = ["a dispute", "the order", "his house", "a small boat", "the last ticket", "an answer", "two apples"]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory) -> Path:
    """Texts with a few thousand lines: what works on them takes long enough to be killed in the midst of it."""
    folder = tmp_path_factory.mktemp("inputs")
    draw = random.Random(1)

    def sentence() -> str:
        return " ".join(map(draw.choice, (PEOPLE, DEEDS, THINGS))) + draw.choice(("", " today", " again", " at 5"))

    english = [sentence() for _ in range(4000)]
    foreign = [" ".join(word[::-1] for word in line.split()) for line in english]

    def write(name: str, rows: list[str]) -> None:
        (folder / name).write_text("".join(row + "\n" for row in rows), encoding="utf-8")

    write("text.en", english)
    write("text.xx", foreign)
    write("words", sorted({word + str(n) for line in english for word in line.split() for n in range(200)}))
    write("sentences.tsv", [f"{f}\t{e}" for f, e in zip(foreign, english, strict=True)])
    write("pairs.tsv", [f"{sentence()}\t{sentence()}\t{draw.randrange(2)}" for _ in range(1500)])
    write("labelled.tsv", [f"{draw.choice(('pos', 'neg'))}\t{line} {n}" for n, line in enumerate(english)])
    return folder


COMMANDS = {
    "labelled text": "classify prepare -o {out}/data --low-resource {in}/labelled.tsv --test-share 0.1",
    "label transfer": "match transfer-labels --labelled {in}/pairs.tsv --sentences {in}/sentences.tsv -o {out}/a.tsv",
    "pairs": "match prepare -o {out}/data {in}/pairs.tsv --folds 5",
    "a lexicon": "data lexicon {in}/text.xx {in}/text.en --output {out}/lexicon.tsv --iterations 9",
    "random vectors": "vectors random --words {in}/words --dim 100 --output {out}/random.vec",
    "trained vectors": "vectors train {in}/text.en --output {out}/en --dim 50 --epoch 20 --threads 1 --quiet",
    "a corpus with a grammar": "data synthetic --output {out}/corpus --train 20000",
}


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", COMMANDS)
def test_killed_anywhere_and_started_again(name: str, inputs: Path, tmp_path: Path) -> None:
    def words(folder: str) -> list[str]:
        (tmp_path / folder).mkdir(exist_ok=True)
        return [word.format(**{"in": inputs, "out": folder}) for word in COMMANDS[name].split()]

    started = time.monotonic()
    done = forked.run("fairseq_xl.cli.main", *words("whole"), folder=tmp_path)
    whole = time.monotonic() - started
    assert done.returncode == 0, done.stderr
    draw = random.Random(name)
    killed = 0
    for _ in range(8):
        after = draw.uniform(0.1, 1) * whole
        killed += forked.start_and_kill("fairseq_xl.cli.main", *words("killed"), after=after, folder=tmp_path)
    assert killed
    done = forked.run("fairseq_xl.cli.main", *words("killed"), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    expected, found = tree(tmp_path / "whole"), tree(tmp_path / "killed")
    assert sorted(found) == sorted(expected), "nothing else is left behind"
    for path, content in expected.items():
        assert found[path].replace(b"killed", b"whole") == content, path


def test_a_fork_that_is_killed_while_it_draws_a_bar_takes_no_lock_along() -> None:
    def draw_and_die() -> None:
        tqdm.tqdm.get_lock().acquire()
        os.kill(os.getpid(), signal.SIGKILL)

    tqdm.tqdm.get_lock()
    child = multiprocessing.get_context("fork").Process(target=draw_and_die)
    child.start()
    child.join(60)
    assert child.exitcode == -signal.SIGKILL
    assert tqdm.tqdm.get_lock().acquire(timeout=5)
    tqdm.tqdm.get_lock().release()
