"""An experiment as a YAML file names it: systems × seeds, each cell one run of a recipe."""

from __future__ import annotations

import difflib
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from fairseq_xl.io.atomic import real_path
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import names_and_values, read_yaml

TRAIN = "fairseq-train"
KEYS = ("title", "recipe", "options", TRAIN, "seeds", "systems", "baselines", "name")
SYSTEM_KEYS = ("loss", "options", TRAIN, "seeds", "label")
# what the runner itself passes to a recipe
RESERVED = {
    "loss": "name the loss in `systems`",
    "seed": "use `seeds` in the file",
    "seeds": "the file has them beside `systems`, or within a system",
    "name": "the key `name` beside `systems` is a pattern for it",
    "out": "give --output on the command line",
    "dry-run": "give it on the command line",
    "train-only": "a cell is done when it is scored",
    "prepare-only": "the runner prepares the data itself",
}
# options of a recipe that prepared data do not depend on
TRAINING_ONLY = (
    "arch",
    "size",
    "epochs",
    "label-smoothing",
    "softmax-negatives",
    "threads",
    "diagnose",
    "diagnose-words",
    "replace-unk",
    "search",
    "user-dir",
    "updates",
    "every",
    "pretrain",
    "with-high-resource",
    "class-bias",
    "split",
    "model",
    "parses",
    "more-text",
    "choose",
    "prior",
    "runs",
)
# losses whose data differ from those of the recipe's other ones: fairseq's own models, classifiers in the paper's
# configuration, and those whose labels are shuffled
OWN_DATA = re.compile(r"stock\w*|paper|paper-control|siamese-control")
# what the Siamese encoders of sentiment.sh and emoji.sh read alone: their baselines go without
ENCODERS = re.compile(r"(siamese|paper)(-mono|-control)?")
OF_ENCODERS = ("morphemes", "low-vectors", "high-vectors")
MOST_CELLS = 10_000
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
# in an option: the folder of another system's run with the same seed
RUN = re.compile(r"\{run:([^{}]*)\}")
PATHS = {
    *("data", "train", "valid", "test", "mono", "source-mono", "text", "english-text", "more", "more-text"),
    *("translated", "vectors", "low-vectors", "high-vectors", "parses", "teacher", "user-dir"),
}
"""Options of recipes that are a path and nothing else."""


@dataclass(frozen=True)
class Cell:
    """One run: a system with a seed.

    Attributes:
        name: the folder of the run, ``OUT/runs/NAME``.
        system: the row of the table that it belongs to.
        seed: of the run.
        recipe: script that runs it.
        options: the recipe's options by name without dashes, ``loss`` and ``seed`` among them; a flag's value is
            nothing. ``{run:CELL}`` in a value stands for the folder of that cell's run.
        train: further options of fairseq-train, likewise.
    """

    name: str
    system: str
    seed: int
    recipe: Path
    options: dict[str, str]
    train: tuple[str, ...] = ()

    def command(self, out: Path) -> list[str]:
        """The recipe with everything this cell wants."""
        words = ["bash", str(self.recipe), "--out", str(out), "--name", self.name]
        words += _as_words(self.options.items())
        words += ["--", *self.train] if self.train else []
        return [RUN.sub(lambda found: str(out / "runs" / found[1]), word) for word in words]

    @property
    def needs(self) -> tuple[str, ...]:
        """The cells whose runs this one uses: it waits for them."""
        words = (*self.options.values(), *self.train)
        return tuple(dict.fromkeys(name for word in words for name in RUN.findall(word)))

    def preparation(self) -> tuple[tuple[str, str], ...]:
        """The options that decide what data is prepared: cells of one recipe in which they agree share it.

        The loss is one of them where its data are its own, and the seed where it draws the sentences. Options of
        encoders alone are none of a baseline's.
        """
        without = {"loss", "seed", *TRAINING_ONLY}
        if not ENCODERS.fullmatch(self.options["loss"]):
            without.update(OF_ENCODERS)
        deciding = {k: v for k, v in self.options.items() if k not in without}
        loss = self.options["loss"].removesuffix("-mono")  # the same data, of which one language is read
        if OWN_DATA.fullmatch(loss):
            deciding["loss"] = loss
        if deciding.get("draws") == "seed":
            deciding["seed"] = self.options["seed"]
        return tuple(sorted(deciding.items()))

    def preparing_command(self, out: Path) -> list[str]:
        """The recipe up to where training begins."""
        words = ["bash", str(self.recipe), "--out", str(out), "--prepare-only"]
        return words + _as_words(self.preparation())


@dataclass(frozen=True)
class Experiment:
    """A table's worth of cells.

    Attributes:
        labels: what the report calls each system, in the order of the file.
        baselines: systems that the others are tested against.
    """

    path: Path
    title: str
    cells: list[Cell]
    labels: dict[str, str]
    baselines: list[str] = field(default_factory=list)


def load(path: Path, changes: list[str] | None = None) -> Experiment:
    """Read an experiment; ``changes`` are recipe options as ``NAME=VALUE`` that replace those of all its systems.

    A system's own options stay.

    Options that are a path and nothing else (data, train, mono, vectors, …) are relative to the file's folder. Files of
    other options are relative to the working directory. ``${oc.env:NAME}`` is an environment variable.

    Raises:
        InputError: no such file, not YAML, unknown keys, values of the wrong kind, names that clash.
    """
    read = _read(path)
    recipe = real_path(path.parent / str(read["recipe"]))
    if not recipe.is_file():
        raise InputError(f"{path}: there is no recipe {read['recipe']} (looked at {recipe})")
    shared = {**_options(read.get("options"), path, "options"), **read_changes(changes or [])}
    cells: list[Cell] = []
    labels: dict[str, str] = {}
    for system, given in _mapping(read["systems"], path, "systems").items():
        where = f"systems: {system}"
        if not NAME.fullmatch(str(system)):
            raise InputError(f"{path}, {where}: a system's name has letters, digits and . _ + - only")
        entry = _mapping(given or {}, path, where)
        _known(entry, SYSTEM_KEYS, f"{path}, {where}")
        labels[str(system)] = str(entry.get("label", system))
        cells += _cells_of(str(system), entry, read, shared, recipe, path)
        if len(cells) > MOST_CELLS:
            raise InputError(f"{path}: more than {MOST_CELLS} runs: give fewer systems or seeds")
    cells = _with_runs_named(cells, path)
    _refuse_namesakes(cells, labels, path)
    baselines = [str(b) for b in _list(read.get("baselines", []), path, "baselines")]
    for baseline in baselines:
        if baseline not in labels:
            raise InputError(f"{path}: the baseline {baseline!r} is none of the systems")
    title = str(read.get("title", path.stem))
    return Experiment(path, title, cells, labels, baselines)


def _read(path: Path) -> dict[str, Any]:
    try:
        read = read_yaml(path)
    except FileNotFoundError:
        raise InputError(f"there is no experiment {path}: recipes/experiments/ has some") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder: give the YAML file of an experiment") from None
    if not isinstance(read, dict):
        raise InputError(f"{path} must be a mapping with the keys {', '.join(KEYS)}")
    _known(read, KEYS, str(path))
    for key in ("recipe", "systems"):
        if not read.get(key):
            raise InputError(f"{path} has no {key!r}: an experiment names its recipe and its systems")
    return read


def _cells_of(
    system: str, entry: dict[str, Any], read: dict[str, Any], shared: dict[str, str], recipe: Path, path: Path
) -> Iterator[Cell]:
    """A cell for each seed of a system, whose own keys (``entry``) go before those of the whole file (``read``)."""
    where = f"systems: {system}"
    pattern = str(read.get("name", "{system}.seed{seed}"))
    train = (*_words(read.get(TRAIN), path), *_words(entry.get(TRAIN), path))
    for seed in _seeds(entry.get("seeds", read.get("seeds", 1)), path, where):
        options = {**shared, **_options(entry.get("options"), path, where)}
        options["loss"] = _loss(entry.get("loss", system), path, where)
        options["seed"] = str(seed)
        yield Cell(_name(pattern, {**options, "system": system}, path), system, seed, recipe, options, train)


def _refuse_namesakes(cells: list[Cell], labels: dict[str, str], path: Path) -> None:
    name, times = Counter(cell.name for cell in cells).most_common(1)[0]
    if times > 1:
        raise InputError(f"{path}: several runs would be called {name!r}: put {{system}} and {{seed}} into `name`")
    label, times = Counter(labels.values()).most_common(1)[0]
    if times > 1:
        alike = [system for system, other in labels.items() if other == label]
        raise InputError(f"{path}: {' and '.join(alike)} are both called {label!r}: give each its own label")


def _with_runs_named(cells: list[Cell], path: Path) -> list[Cell]:
    """``{run:SYSTEM}`` made ``{run:CELL}``, of the system's cell with the same seed."""
    cell_of = {(cell.system, cell.seed): cell.name for cell in cells}

    def named(cell: Cell, word: str) -> str:
        for system in RUN.findall(word):
            if (system, cell.seed) not in cell_of:
                raise InputError(
                    f"{path}: {cell.name} uses {{run:{system}}}, but there is no system {system!r} with seed "
                    f"{cell.seed}: give it that seed, or name another one"
                )
        return RUN.sub(lambda found: f"{{run:{cell_of[found[1], cell.seed]}}}", word)

    found = [
        replace(
            cell,
            options={name: named(cell, value) for name, value in cell.options.items()},
            train=tuple(named(cell, word) for word in cell.train),
        )
        for cell in cells
    ]
    try:
        TopologicalSorter({cell.name: cell.needs for cell in found}).prepare()
    except CycleError as error:
        raise InputError(f"{path}: runs wait for each other: {' for '.join(error.args[1])}") from None
    return found


def _as_words(options: Iterable[tuple[str, str]]) -> list[str]:
    return [word for name, value in options for word in (f"--{name}", value) if word]


def _known(entry: Mapping[Any, Any], keys: tuple[str, ...], where: str) -> None:
    for key in entry:
        if key not in keys:
            near = difflib.get_close_matches(str(key), keys, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(keys)}"
            raise InputError(f"{where}: unknown key {key!r}; {hint}")


def _mapping(value: Any, path: Path, where: str) -> dict[Any, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{path}: {where} must be a mapping, not {value!r}")
    return value


def _list(value: Any, path: Path, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(f"{path}: {where} must be a list, not {value!r}")
    return value


def _seeds(value: Any, path: Path, where: str) -> list[int]:
    """A list of seeds, or how many: 3 means 1, 2, 3."""
    seeds = list(range(1, min(value, MOST_CELLS + 1) + 1)) if type(value) is int else value
    if not isinstance(seeds, list) or not seeds or not all(type(s) is int and 0 <= s < 1 << 32 for s in seeds):
        raise InputError(f"{path}, {where}: seeds is {value!r}; give a list such as [1, 2, 3], or how many")
    if len(seeds) > MOST_CELLS:
        raise InputError(f"{path}, {where}: more than {MOST_CELLS} seeds: give fewer")
    return seeds


def _loss(value: Any, path: Path, where: str) -> str:
    if not isinstance(value, str) or not value:
        raise InputError(f"{path}, {where}: loss is {value!r}; give the name of one, or leave the key out")
    return value


def _options(value: Any, path: Path, where: str) -> dict[str, str]:
    options = {}
    for name, given in _mapping(value or {}, path, where).items():
        if name in RESERVED:
            raise InputError(f"{path}, {where}: the option {name!r} is the runner's; {RESERVED[name]}")
        if given is False:
            raise InputError(
                f"{path}, {where}: the option {name!r} is false, as YAML reads no, off and false: put the word into "
                "quotes, or leave a switch out"
            )
        if isinstance(given, dict | list) or given in (None, ""):
            raise InputError(f"{path}, {where}: the option {name!r} is {given!r}; give a word or a number")
        options[str(name)] = "" if given is True else _in_folder(str(name), str(given), path.parent)
    return options


def _in_folder(name: str, value: str, folder: Path) -> str:
    """Files that an option names are found from the experiment's own folder."""
    if name in PATHS and not RUN.match(value):
        return str(real_path(folder / Path(value).expanduser()))
    return value


def read_changes(changes: list[str]) -> dict[str, str]:
    """Recipe options from ``NAME=VALUE``, as a cell has them.

    Raises:
        InputError: not of that form, the same option twice, or one that the runner itself gives.
    """
    options = {}
    for name, value in names_and_values(changes, "--set", "NAME=VALUE, with an option of the recipe").items():
        if name in RESERVED:
            raise InputError(f"--set {name}={value}: the option {name!r} is the runner's; {RESERVED[name]}")
        options[name] = _in_folder(name, value, Path.cwd())
    return options


def _words(value: Any, path: Path) -> list[str]:
    if value is None:
        return []
    if isinstance(value, dict) or (isinstance(value, list) and any(isinstance(word, dict | list) for word in value)):
        raise InputError(f"{path}: {TRAIN}: {value!r} is no command line; write words, such as --lr 0.1 --clip-norm 1")
    try:
        return [str(word) for word in value] if isinstance(value, list) else shlex.split(str(value))
    except ValueError as error:
        raise InputError(f"{path}: {TRAIN}: {value!r} cannot be split into words ({error})") from None


def _name(pattern: str, values: dict[str, str], path: Path) -> str:
    try:
        name = re.sub(r"\{([\w-]+)\}", lambda found: values[found[1]], pattern)
    except KeyError as error:
        raise InputError(f"{path}: name {pattern!r} has {{{error.args[0]}}}, which is no option") from None
    if not NAME.fullmatch(name):
        raise InputError(f"{path}: {name!r} cannot be the name of a folder: change `name`")
    return name
