"""Fixtures that every test may use."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import logging
import math
import os
import pickle
import random
import shlex
import subprocess
import sys
import threading
import tomllib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import forkserver
import hub_server
import hypothesis
import playground as playgrounds
import pytest
import skips
import slurm
import torch
import tqdm
from fairseq.logging import metrics

import fairseq_xl

fairseq_xl.register()

ROOT = Path(__file__).resolve().parent.parent

# What takes milliseconds on an idle machine can take a second on a busy one; and the examples are the same in every
# run, so that a failure belongs to the change that caused it. New ones: --hypothesis-profile search.
hub = hub_server.hub
hypothesis.settings.register_profile("search", deadline=None)
hypothesis.settings.register_profile("fairseq_xl", deadline=None, derandomize=True)
hypothesis.settings.load_profile("fairseq_xl")

# tqdm's lock is shared with forks, so that a fork that is killed while it draws a bar would have it for ever, and the
# next bar of the tests wait for it. This one is each process's own.
tqdm.tqdm.set_lock(threading.RLock())

# The tests' processes fill the cores; threads that wait for each other would make them many times as slow.
torch.set_num_threads(1)


@pytest.fixture(autouse=True, scope="module")
def _no_metrics_of_others() -> None:
    """fairseq keeps what was logged last for the whole process: a name may have meant something else there."""
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


# Those that take minutes, first: what is left for the end then fits between two processes.
LONGEST = (
    "recipes/test_multi30k.py",
    "tests/test_benchmark.py",
    "recipes/test_quickstart.py",
    "tests/test_docs_run.py",
    "compat/test_contract.py",
    "continuous/test_commands.py",
    "tests/test_kills.py",
    "syntactic/data/test_prepare.py",
    "pairs/test_training.py",
    "continuous/test_launching.py",
    "syntactic/test_training.py",
    "tests/test_fuzz.py",
    "tests/test_fuzz_commands.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files in the order of :data:`LONGEST`, then the others as they come."""

    def place(item: pytest.Item) -> int:
        path = item.path.as_posix()
        return next((n for n, name in enumerate(LONGEST) if path.endswith(name)), len(LONGEST))

    items.sort(key=place)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """In CI, name the skips whose reason is not in expected_skips.txt; ``-ra`` lists all of them."""
    unexpected = skips.unexpected(terminalreporter.stats.get("skipped", []))
    if unexpected and os.environ.get("CI"):
        terminalreporter.section("skipped without an expected reason (tests/expected_skips.txt)", red=True)
        for line in unexpected:
            terminalreporter.line(line)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Let CI fail on them."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    done = session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    if done and reporter is not None and os.environ.get("CI") and skips.unexpected(reporter.stats.get("skipped", [])):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real data that ``FAIRSEQ_XL_DATA`` names; without it the test is skipped."""
    named = os.environ.get("FAIRSEQ_XL_DATA")
    if not named:
        pytest.skip("needs real data: set FAIRSEQ_XL_DATA to the folder that holds it")
    folder = Path(named)
    if not folder.is_dir():
        pytest.fail(f"FAIRSEQ_XL_DATA names {folder}, which is no folder")
    return folder


@pytest.fixture(scope="session")
def project() -> dict[str, Any]:
    """The table ``project`` of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="session")
def cli_code() -> str:
    """What ``python -c`` runs as the command fairseq-xl."""
    return "import sys; from fairseq_xl.cli.main import main; sys.exit(main())"


@pytest.fixture(scope="session")
def run_cli(cli_code: str) -> Callable[..., subprocess.CompletedProcess[str]]:
    """``run_cli("vectors", "random", …)`` runs fairseq-xl in a process of its own.

    Returns the completed process with text output, whatever its status. ``python=`` names
    another interpreter; other keyword arguments go to ``subprocess.run`` (``cwd``, ``input`` …).
    """

    def run(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
        env = dict(options.pop("env", None) or os.environ)
        paths = [env.get("PYTHONPATH", ""), str(ROOT)]  # an editable installation leaves metadata in ROOT
        env["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
        env.setdefault("OMP_NUM_THREADS", "1")
        python = options.pop("python", sys.executable)
        command = [python, "-c", cli_code, *map(str, arguments)]
        options = {"capture_output": True, "text": True, "check": False, "timeout": 900, **options}
        return subprocess.run(command, env=env, **options)

    return run


@pytest.fixture(scope="session")
def forks() -> Iterator[forkserver.Server]:
    """Commands for shell scripts that need not import torch and fairseq again: see helpers/forkserver.py.

    ``forks.environment()`` is one in which fairseq-xl, fairseq-train and the others are these.
    """
    server = forkserver.Server()
    yield server
    server.close()


@pytest.fixture(scope="session")
def forked_cli(forks: forkserver.Server) -> Callable[..., subprocess.CompletedProcess[str]]:
    """As ``run_cli``, in a fork: for commands that import torch or fairseq, where that is not what is tested."""
    return partial(forks.run, "fairseq-xl")


@pytest.fixture
def elsewhere(forks: forkserver.Server, tmp_path: Path) -> Callable[..., Any]:
    """``elsewhere("copy.translate(text)", copy=…, text=…)`` is that in a process which gets pickled values.

    It has imported fairseq, and not the plugin; compat/test_pickling.py has one that has imported neither.
    """

    def find(expression: str, **values: object) -> Any:
        script = tmp_path / "elsewhere.py"
        script.write_text(
            "import pickle, sys\n"
            "globals().update(pickle.load(sys.stdin.buffer))\n"
            f"pickle.dump({expression}, sys.stdout.buffer)\n"
        )
        done = forks.run("python-script", script, input=pickle.dumps(values), text=False)
        assert done.returncode == 0, done.stderr.decode()[-2000:]
        return pickle.loads(done.stdout)

    return find


@pytest.fixture
def playground(tmp_path: Path) -> playgrounds.Playground:
    """A folder with a recipe that does what it is told, and an experiment of it."""
    return playgrounds.Playground(tmp_path)


# --- finished runs as a recipe leaves them, made up ---

SIGNATURE = "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"
WORDS = ("a", "the", "man", "woman", "dog", "cat", "is", "runs", "sits", "under", "red", "small", "house", "tree")


def sentences(seed: int, count: int = 40) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=draw.randint(4, 9))) + " ." for _ in range(count)]


def spoilt(lines: list[str], share: float, seed: int) -> list[str]:
    """The same sentences with a share of their words replaced."""
    draw = random.Random(seed)

    def changed(word: str) -> str:
        return draw.choice(WORDS) if draw.random() < share else word

    return [" ".join(map(changed, line.split())) for line in lines]


@pytest.fixture
def make_run(tmp_path: Path):
    """``make_run(name, bleu=30.0, share=0.3, seed=1)`` writes OUT/runs/NAME, whose folder it returns."""
    out = tmp_path / "out"
    references = sentences(0)

    def make(name: str, bleu: float = 30.0, share: float = 0.3, seed: int = 1, measure: str = "accuracy") -> Path:
        run = out / "runs" / name
        run.mkdir(parents=True)
        scores = {
            f"beam{beam}": {
                "BLEU": {"score": bleu + beam / 10, "signature": SIGNATURE},
                "chrF2": {"score": 2 * bleu, "signature": SIGNATURE.replace("13a", "none")},
            }
            for beam in (1, 5)
        }
        record = {
            "name": name,
            "source": "de",
            "target": "en",
            "scores": {"test": scores},
            "seed": seed,
            "epochs": 2,
            "seconds_per_epoch": 90.0,
            "device": "cpu: a processor",
        }
        (run / "record.json").write_text(json.dumps(record))
        (run / "ref.txt").write_text("\n".join(references) + "\n")
        (run / "src.txt").write_text("\n".join(line.upper() for line in references) + "\n")
        for beam in (1, 5):
            (run / f"hyp.beam{beam}.txt").write_text("\n".join(spoilt(references, share, seed)) + "\n")
        lines = ["INFO | fairseq_cli.train | num. shared model params: 1,234,567 (num. trained: 1,000,000)"]
        for epoch in (1, 2):
            at = {"epoch": epoch, "num_updates": 10 * epoch - 5}
            inner = {**at, "update": epoch - 0.5, "loss": "1", "ups": "2", "bsz": "60"}
            end = {"epoch": epoch}
            train = {**end, "train_loss": "1", "train_train_wall": "90", "train_num_updates": 10 * epoch}
            found = {f"valid_{measure}": str(bleu + epoch), "valid_num_updates": 10 * epoch}
            valid = {**end, "valid_loss": "1", **found}
            lines += [json.dumps(values) for values in (inner, train, valid)]
        (run / "train.log").write_text("\n".join(lines) + "\n")
        return run

    make.out, make.references, make.spoilt = out, references, spoilt
    return make


# --- a data directory of made-up sentences, as fairseq-xl embed prepare writes it ---

LEXICON = {
    "de": {"DET": ["der", "die"], "ADJ": ["rote", "kleine"], "NOUN": ["hund", "katze"], "VERB": ["rennt", "sieht"]},
    "en": {"DET": ["the", "a"], "ADJ": ["red", "small"], "NOUN": ["dog", "cat"], "VERB": ["runs", "sees"]},
    "es": {"DET": ["el", "la"], "ADJ": ["rojo", "chico"], "NOUN": ["perro", "gato"], "VERB": ["corre", "ve"]},
    "fr": {"DET": ["le", "un"], "ADJ": ["rouge", "petit"], "NOUN": ["chien", "chat"], "VERB": ["court", "voit"]},
}
PATTERNS = [
    "DET NOUN VERB",
    "DET ADJ NOUN VERB",
    "DET NOUN VERB DET NOUN",
    "NOUN VERB",
    "DET ADJ NOUN VERB DET ADJ NOUN",
    "VERB DET NOUN",
]


def tags_in(language: str, pattern: str) -> list[str]:
    """Spanish and French put adjectives last."""
    swapped = pattern.replace("ADJ NOUN", "NOUN ADJ") if language in ("es", "fr") else pattern
    return [*swapped.split(), "PUNCT"]


def tagged_sentence(draw: random.Random, language: str, pattern: str) -> str:
    words = [draw.choice(LEXICON[language][tag]) for tag in tags_in(language, pattern)[:-1]]
    return " ".join(words) + " ."


@pytest.fixture(scope="session")
def prepare(tmp_path_factory) -> Callable[..., Path]:
    """``prepare("de-en", "es-en", sizes=(200, 50), …)`` writes a data directory and returns it.

    ``languages`` are all target languages of the manifest (by default those of the pairs); ``untagged`` pairs have
    no tags; ``words`` are the languages that the SentencePiece model and the dictionary know.
    """
    from fairseq.data import Dictionary, indexed_dataset

    from fairseq_xl.text.conllu import UPOS
    from fairseq_xl.text.subwords import encode, train_subwords

    shared: dict[tuple[str, ...], Path] = {}

    def subwords(languages: tuple[str, ...]) -> Path:
        if languages not in shared:
            folder = tmp_path_factory.mktemp("pieces")
            draw = random.Random(1)
            lines = [tagged_sentence(draw, one, draw.choice(PATTERNS)) for one in languages for _ in range(200)]
            (folder / "text").write_text("\n".join(lines) + "\n")
            train_subwords([folder / "text"], folder / "sentencepiece.model", 60)
            dictionary = Dictionary()
            for line in lines:
                for piece in encode(line, str(folder / "sentencepiece.model")).split():
                    dictionary.add_symbol(piece)
            dictionary.finalize(padding_factor=8)
            dictionary.save(str(folder / "dict.source.txt"))
            shared[languages] = folder
        return shared[languages]

    def make(
        *pairs: str,
        train: tuple[int, ...] = (60,),
        valid: int = 12,
        languages: tuple[str, ...] = (),
        untagged: tuple[str, ...] = (),
        words: tuple[str, ...] = tuple(LEXICON),
        seed: int = 1,
    ) -> Path:
        folder = tmp_path_factory.mktemp("prepared")
        draw = random.Random(seed)
        for name in ("sentencepiece.model", "dict.source.txt"):
            (folder / name).write_bytes((subwords(words) / name).read_bytes())
        tags = Dictionary()
        for tag in UPOS:
            tags.add_symbol(tag)
        tags.save(str(folder / "dict.upos.txt"))
        source_dictionary = Dictionary.load(str(folder / "dict.source.txt"))
        model = str(folder / "sentencepiece.model")

        def write(name: str, lines: list[str], dictionary: Dictionary) -> None:
            builder = indexed_dataset.make_builder(f"{folder}/{name}.bin", "mmap", vocab_size=len(dictionary))
            for line in lines:
                builder.add_item(torch.as_tensor(dictionary.encode_line(line, add_if_not_exist=False)))
            builder.finalize(f"{folder}/{name}.idx")

        entries = []
        for number, pair in enumerate(sorted(pairs)):
            source, target = pair.split("-")
            sizes = {"train": train[number % len(train)], "valid": valid}
            entry = {"source": source, "target": target, **sizes}
            for split, size in sizes.items():
                patterns = [draw.choice(PATTERNS) for _ in range(size)]
                left = [encode(tagged_sentence(draw, source, one), model) for one in patterns]
                right = [encode(tagged_sentence(draw, target, one), model) for one in patterns]
                write(f"{split}.{pair}.source", left, source_dictionary)
                write(f"{split}.{pair}.pieces", right, source_dictionary)
                if pair in untagged:
                    entry["upos"] = False
                else:
                    write(f"{split}.{pair}.upos", [" ".join(tags_in(target, one)) for one in patterns], tags)
            entries.append(entry)
        manifest = {
            "version": 1,
            "sentencepiece": "sentencepiece.model",
            "source_dictionary": "dict.source.txt",
            "targets": {"upos": "dict.upos.txt", "pieces": "dict.source.txt"},
            "languages": list(languages) or sorted({pair.split("-")[1] for pair in pairs}),
            "pairs": entries,
        }
        (folder / "manifest.json").write_text(json.dumps(manifest))
        return folder

    return make


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
    from fairseq_xl.training import checkpoints

    def check(one: dict[str, Any], other: dict[str, Any]) -> None:
        assert checkpoints.updates(one) == checkpoints.updates(other) > 0
        assert one["extra_state"]["val_loss"] == other["extra_state"]["val_loss"]
        assert one["model"].keys() == other["model"].keys()
        for name, tensor in one["model"].items():
            assert torch.equal(tensor, other["model"][name]), name

    return check


@pytest.fixture(scope="session")
def by_torchrun(forks) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """``by_torchrun("DATA --task …")`` runs fairseq-train in two processes; its output holds both's."""
    return partial(_launch, forks, ["torchrun", "--standalone", "--nproc-per-node", "2", "--no-python"])


@pytest.fixture(scope="session")
def by_two_agents(forks) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """The same by a torchrun for each of two machines, which here are one and meet on its loopback."""

    def train(line: str) -> subprocess.CompletedProcess[str]:
        (port,) = slurm.free_ports(1)
        meet = ["--rdzv-backend", "c10d", "--rdzv-endpoint", f"127.0.0.1:{port}", "--local-addr", "127.0.0.1"]
        launch = ["torchrun", "--nnodes", "2", "--nproc-per-node", "1", *meet, "--no-python"]
        with ThreadPoolExecutor(2) as pool:
            agents = [pool.submit(_launch, forks, launch, line) for _ in range(2)]
            one, other = (agent.result() for agent in agents)
        return subprocess.CompletedProcess(launch, one.returncode or other.returncode, one.stdout + other.stdout)

    return train


@pytest.fixture(scope="session")
def by_srun(forks, slurm_cluster) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """The same by Slurm, in two processes on each of two nodes."""

    def train(line: str) -> subprocess.CompletedProcess[str]:
        (port,) = slurm.free_ports(1)
        launch = ["srun", "--kill-on-bad-exit", "--nodes", "2", "--ntasks-per-node", "2"]
        line = f"{line} --distributed-port {port}"
        return _launch(forks, launch, line, env={**os.environ, **slurm_cluster})

    return train


def _launch(forks: Any, launch: list[str], line: str, **options: Any) -> subprocess.CompletedProcess[str]:
    options |= {"capture_output": False, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return forks.run(
        *launch, "fairseq-train", *shlex.split(line), "--user-dir", ROOT / "fairseq_xl", "--cpu", **options
    )


@pytest.fixture(scope="session")
def slurm_cluster() -> Iterator[dict[str, str]]:
    """What the environment needs for ``srun`` and ``sbatch`` to find a Slurm of two nodes, started for the tests."""
    slurm.find()
    with slurm.cluster() as environment:
        yield environment


@pytest.fixture(scope="session")
def assert_processes_do_as_one(fairseq_train, by_torchrun, validate) -> Callable[..., dict[str, float]]:
    """Two processes, of which each has every second batch, do what one does with ``--update-freq 2``.

    Sums of floats in another order differ: weights may by 1e-4, the validation loss by 2e-3 of itself. Every figure
    of the two's last validation is the one that a single process finds for the same weights. Returns them.
    """
    import torch

    from fairseq_xl.training import checkpoints

    connected = "--distributed-backend gloo --ddp-backend legacy_ddp"

    def check(line: str, folder: Path, launch: Any = by_torchrun, processes: int = 2) -> dict[str, float]:
        fairseq_train(f"{line} --cpu --update-freq {processes} --save-dir {folder}/one")
        done = launch(
            f"{line} --distributed-world-size {processes} {connected} --log-format json --save-dir {folder}/two"
        )
        assert done.returncode == 0, done.stdout[-3000:]
        one, two = (checkpoints.read(folder / name / "checkpoint_last.pt") for name in ("one", "two"))
        assert checkpoints.updates(one) == checkpoints.updates(two) > 1
        for name, tensor in one["model"].items():
            assert torch.allclose(tensor.double(), two["model"][name].double(), atol=1e-4), name
        assert one["extra_state"]["val_loss"] == pytest.approx(two["extra_state"]["val_loss"], rel=2e-3)
        said = last_figures(done.stdout.splitlines())
        alone = validate(line, folder / "two" / "checkpoint_last.pt")
        assert {name for name in said if not name.startswith("best_")} == alone.keys()
        assert {name: said[name] for name in alone} == pytest.approx(alone, rel=1e-3, abs=2e-3)
        return said

    return check


@pytest.fixture(scope="session")
def assert_processes_share_each_epoch() -> Callable[[Callable[[], Any]], None]:
    """``assert_processes_share_each_epoch(MAKE)``: of the data set that every process makes, each has other samples,
    together they have all, and so in another order in the next epoch."""
    from fairseq.tasks import FairseqTask

    def check(make: Callable[[], Any]) -> None:
        def ids(epoch: int, shards: int, shard: int) -> list[int]:
            batches = FairseqTask(None).get_batch_iterator(
                make(), max_sentences=8, seed=1, epoch=epoch, num_shards=shards, shard_id=shard
            )
            return [i for batch in batches.next_epoch_itr(shuffle=True) if batch for i in batch["id"].tolist()]

        whole = ids(2, 1, 0)
        assert sorted(whole) == list(range(len(make())))
        assert sorted(ids(2, 2, 0) + ids(2, 2, 1)) == sorted(whole)
        assert ids(2, 1, 0) == whole != ids(3, 1, 0)

    return check


UPOS_TRAINING = (
    "--task upos_translation --arch upos_lstm_tiny --criterion upos_cross_entropy --optimizer fused_adam --lr 0.01 "
    "--batch-size 16 --num-workers 0 --no-progress-bar --seed 3 "
)


@pytest.fixture(scope="session")
def upos_training() -> str:
    """Options of a small training on a data directory."""
    return UPOS_TRAINING


@pytest.fixture(scope="session")
def upos_run(prepare, fairseq_train, tmp_path_factory) -> tuple[Path, Path]:
    """A data directory, and the folder of the checkpoints that were trained on it."""
    data, saved = prepare("de-en", "en-de", "en-es"), tmp_path_factory.mktemp("saved")
    fairseq_train(f"{data} {UPOS_TRAINING} --max-epoch 2 --save-dir {saved}")
    return data, saved
