"""Cases: a good command line with a few things wrong in it or around it, drawn from a seed."""

from __future__ import annotations

import argparse
import random
import re
from dataclasses import dataclass, field
from pathlib import Path

from fairseq_xl.cli.main import find
from fairseq_xl.cli.parsing import add_options
from fuzzing import lines
from fuzzing.places import INPUT_FILES, INPUT_FOLDERS, NAMES, OUTPUTS

PATH = re.compile(r"(?<![\w/.])(?:in|out)/[\w./-]+")
INTEGERS = [
    "-1",
    "0",
    "1",
    "2",
    "3",
    "7",
    "100",
    str(2**31 - 1),
    str(2**31),
    str(2**63),
    str(-(2**63)),
    "9" * 30,
    "9" * 400,
]
NO_INTEGERS = ["", "1_0", "٣", " 5 ", "0x10", "1e3", "nan", "1.5", "9" * 5000, "-", "five"]
FLOATS = ["nan", "inf", "-inf", "-0.0", "1e-320", "1e308", "0", "1", "-1", "0.5", "2", "1_0", "", "half", "1e999"]
STRINGS = [
    *(
        "",
        " ",
        "-",
        "--",
        "../x",
        "/proc",
        ".",
        "..",
        "a\nb",
        "\x1b[2J",
        "ü",
        "日本語",
        "😀",
        "\udcff",
        "%s",
        "{}",
        "$HOME",
    ),
    *(
        "$HOME",
        "${oc.env:HOME}",
        "'",
        '"',
        "a b",
        "nan",
        "NULL",
        "=",
        ",",
        ":",
        "a=b",
        "x" * 5000,
        "\u202ex",
        "en",
        "0",
        "*",
    ),
    *("{lang}", "{name}", "{0.__class__}", "\\", "\t", "[", "(", "🇩🇪" * 100, "in/canary", "/dev/null", "a/b"),
]
WORK = {
    *("epoch", "epochs", "iterations", "samples", "train", "valid", "test", "monolingual", "rounds", "draws", "times"),
    *("processes", "threads", "jobs", "gpus_per_cell", "dim", "max_len_b", "min_len", "beam", "n_best"),
}
"""Options that say how much is done: a great number takes long or much memory, which is no fault."""
Given = dict[str, str | None]
"""Variables of the environment; None takes one away."""


def _each(name: str, *values: str | None) -> list[Given]:
    return [{name: value} for value in values]


ENVIRONMENT: list[Given] = [
    *_each("HOME", None, "", "{here}/missing", "/dev/null", "{here}/locked"),
    *_each("TMPDIR", "", "{here}/missing", "/dev/null", "{here}/locked"),
    *_each("COLUMNS", "1", "0", "-5", "x", "100000"),
    *[taken for name in ("PATH", "USER", "TERM", "LOGNAME") for taken in _each(name, None)],
    *_each("TERM", "dumb"),
    *_each("TZ", "Nowhere/X"),
    *_each("CUDA_VISIBLE_DEVICES", "9"),
    *_each("XDG_CACHE_HOME", "/dev/null"),
    *_each("http_proxy", "nonsense"),
    *_each("MPLCONFIGDIR", "/dev/null"),
    *_each("NO_COLOR", "1"),
    *_each("PATH", "/dev/null"),
]
AT_START: list[Given] = [
    *_each("LC_ALL", "C", "POSIX", "xx_XX", "en_US.ISO-8859-1", "C.UTF-8"),
    *_each("PYTHONIOENCODING", "ascii", "latin-1", "utf-16", "ascii:backslashreplace"),
    {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"},
    *_each("PYTHONUNBUFFERED", "1"),
    *_each("PYTHONHASHSEED", "7"),
    *_each("PYTHONWARNINGS", "error::UserWarning"),
    *_each("OMP_NUM_THREADS", "0"),
]
"""What is read when a process starts: such a case needs a real one."""
STREAMS = {
    "stdin": ("closed", "null", "garbage", "unreadable"),
    "stdout": ("closed", "full", "gone", "short", "unwritable"),
    "stderr": ("closed", "full", "gone"),
}
LIMITS = [{"FSIZE": 0}, {"FSIZE": 100}, {"FSIZE": 5000}, {"NOFILE": 15}, {"NOFILE": 40}]


WRITTEN = ("output", "project", "unpack", "report", "cache", "changes", "results", "index", "write_texts")
"""Options that name what a command writes; and these of some commands alone."""
WRITTEN_BY = {"corpus negatives": "sentences", "embed prepare": "corpus"}


@dataclass
class Case:
    """One command line and what is around it.

    Attributes:
        line: number of the good line that it was made of, in :data:`lines.LINES`.
        words: what is typed.
        stdin: the file that is standard input.
        outputs: where the words say that output goes.
        places: what is done to files before, by their paths.
        environment, streams, limits, umask, folder: the circumstances.
        signal, share: a signal that ends it, and when: a share of the time that it takes undisturbed.
        real: a process of its own, not a fork.
        wrong: what is wrong, in words; empty: nothing.
        seed: of everything else that is random.
    """

    line: int
    words: list[str]
    stdin: str | None
    outputs: list[str]
    seed: str
    places: dict[str, str] = field(default_factory=dict)
    environment: Given = field(default_factory=dict)
    streams: dict[str, str] = field(default_factory=dict)
    limits: dict[str, int] = field(default_factory=dict)
    umask: int = 0o022
    folder: str = ""
    signal: str | None = None
    share: float = 0.0
    real: bool = False
    wrong: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return lines.group_and_name(lines.lines()[self.line])[1]


def good(line: int, seed: str = "") -> Case:
    """A case in which nothing is wrong."""
    words = list(lines.lines()[line])
    stdin = None
    if "<" in words:
        words, stdin = words[:-2], words[-1]
    outputs = [path for word in words for path in PATH.findall(word) if path.startswith("out/")]
    if words[0] == "corpus" and "--project" in words:
        outputs.append(words[words.index("--project") + 1])
    if words[0] == "classify" and "in/model.pt" in words:
        outputs.append("in/model.references")  # .CHECKSUM.npz: vectors that are kept for the next time
    if words[:2] == ["experiment", "report"]:
        outputs.append("in/out/report")
    return Case(line, words, stdin, outputs, seed)


def draw(line: int, seed: str, world: Path) -> Case:
    """A case made of a line.

    Args:
        line: its number.
        seed: the same one draws the same case.
        world: the folder that the line's inputs lie in.
    """
    chance = random.Random(seed)
    case = good(line, seed)
    if chance.random() < 0.1:
        case.signal, case.share = chance.choice(("KILL", "TERM", "INT")), chance.uniform(0, 1.1)
        case.real = chance.random() < 0.15
        case.wrong.append(f"SIG{case.signal} after {case.share:.2f} of its time")
        return case
    ways = random.Random(f"{seed} ways").choices(
        (_value, _place, _words, _environment, _stream, _limit), (9, 7, 1, 2, 2, 1), k=chance.choice((1, 1, 1, 2, 2, 3))
    )
    for way in ways:
        way(case, chance, world)
    case.real = case.real or chance.random() < 0.02
    return case


def _slots(case: Case) -> tuple[list[tuple[int, argparse.Action]], list[argparse.Action]]:
    """Which words are values of which options, and the options that are not given."""
    _, kind, rest = find(case.words)
    parser = argparse.ArgumentParser()
    actions = add_options(parser, kind)
    options = {string: action for action in actions for string in action.option_strings}
    positional = [action for action in actions if not action.option_strings]
    found: list[tuple[int, argparse.Action]] = []
    current, left, given = None, 0.0, set()
    for number, word in enumerate(rest, len(case.words) - len(rest)):
        if word in options:
            current = options[word]
            given.add(current.dest)
            left = {None: 1, "+": 1e9, "*": 1e9, "?": 1}.get(current.nargs, current.nargs)  # type: ignore[arg-type,assignment]
        elif current is not None and left:
            found.append((number, current))
            left -= 1
        elif positional:
            found.append((number, positional[0]))
            if positional[0].nargs not in ("+", "*"):
                positional.pop(0)
    return found, [action for action in options.values() if action.dest not in given]


def hostile(action: argparse.Action, chance: random.Random, world: Path) -> str:
    """A value that an option may or may not take."""
    if action.choices and chance.random() < 0.6:
        return str(chance.choice(list(action.choices)))
    if action.type is int:
        number = chance.choice(INTEGERS if chance.random() < 0.8 else NO_INTEGERS)
        return number if len(number) < 4 or action.dest not in WORK else "7"
    if action.type is float:
        return chance.choice(FLOATS)
    if action.type is Path and chance.random() < 0.6:
        files = sorted(path for path in world.glob("in/*"))
        return str(chance.choice(files).relative_to(world)) if files else "in"
    return chance.choice(STRINGS)


def _is_output(case: Case, action: argparse.Action) -> bool:
    return action.dest in WRITTEN or action.dest == WRITTEN_BY.get(case.name)


def _value(case: Case, chance: random.Random, world: Path) -> None:
    """An option's value is another one, or an option is added."""
    slots, others = _slots(case)
    if others and (not slots or chance.random() < 0.5):
        action = chance.choice(others)
        count = chance.choice((1, 1, 2)) if action.nargs == "+" else 1 if action.nargs is None else action.nargs
        values = [hostile(action, chance, world) for _ in range(int(count))]
        case.words += [action.option_strings[0], *values]
        case.wrong.append(f"added: {' '.join(case.words[-len(values) - 1 :])[:100]!r}")
        if _is_output(case, action):
            case.outputs += values
    elif slots:
        number, action = chance.choice(slots)
        value = hostile(action, chance, world)
        was = case.words[number]
        if paths := PATH.findall(was):
            value = was.replace(paths[0], value) if chance.random() < 0.5 else value
        if _is_output(case, action):
            case.outputs.append(value)
        case.words[number] = value
        case.wrong.append(f"{value[:100]!r} for {was!r}")


def _place(case: Case, chance: random.Random, world: Path) -> None:
    """A file or a folder that is named is not what it should be."""
    paths = [path for word in case.words for path in PATH.findall(word)] + ([case.stdin] if case.stdin else [])
    if not paths:
        return
    path = chance.choice(paths)
    if path in case.outputs and path.startswith("out/"):
        state = chance.choice([*OUTPUTS, *NAMES])
        inputs = [one for one in paths if one.startswith("in/")] or ["in"]
        suffix = "".join(Path(path).suffixes)
        name = {
            "input": chance.choice(inputs),
            "stdout": "/dev/stdout",
            "full": "/dev/full",
            "null": "/dev/null",
            "under a file": f"in/canary/x{suffix}",
            "deep": f"out/new/deep/x{suffix}",
            "nothing": "",
            "here": ".",
            "above": "..",
            "system": "/proc",
            "long": f"out/{'x' * 300}{suffix}",
            "odd": f"out/a \n'ü\udcff{suffix}",
            "dash": f"-x{suffix}",
        }.get(state)
        if name is not None:
            case.words = [word.replace(path, name) for word in case.words]
            case.outputs = [name if one == path else one for one in case.outputs]
        else:
            case.places[path] = state
    else:
        there = world / path
        if not there.exists():
            return
        state = chance.choice(INPUT_FOLDERS if there.is_dir() else INPUT_FILES)
        case.places[path] = state
    case.wrong.append(f"{path}: {state}")


def _words(case: Case, chance: random.Random, world: Path) -> None:
    """A word is lost, given twice, unknown, or stands elsewhere."""
    first = len(case.name.split())
    if len(case.words) == first:
        return
    number = chance.randrange(first, len(case.words))
    match chance.randrange(5):
        case 0:
            lost = case.words.pop(number)
            case.wrong.append(f"without {lost!r}")
        case 1:
            case.words.insert(number, case.words[number])
            case.wrong.append(f"{case.words[number]!r} twice")
        case 2:
            word = chance.choice(["--unknown", "-Z", "--help", "--version", "--", chance.choice(STRINGS), "@in/canary"])
            case.words.insert(number, word)
            case.wrong.append(f"{word[:100]!r} put in")
        case 3:
            whole = case.words[number]
            case.words[number] = whole[: chance.randrange(len(case.words[number]) + 1)]
            if whole in case.outputs:
                case.outputs.append(case.words[number])
            case.wrong.append(f"{case.words[number]!r} cut off")
        case 4:
            other = chance.randrange(first, len(case.words))
            pair = case.words[number], case.words[other]
            case.words[other], case.words[number] = pair
            if set(pair) & set(case.outputs):
                case.outputs += pair  # the other one now stands where an output is named
            case.wrong.append(f"{case.words[number]!r} and {case.words[other]!r} change places")


def _environment(case: Case, chance: random.Random, world: Path) -> None:
    if chance.random() < 0.1:
        case.umask = chance.choice((0, 0o077, 0o277))
        case.wrong.append(f"umask {case.umask:o}")
        return
    if chance.random() < 0.1:
        case.folder = "gone"
        case.wrong.append("a working folder that was removed")
        return
    case.real = chance.random() < 0.15
    given = chance.choice(AT_START if case.real else ENVIRONMENT)
    case.environment |= given
    case.wrong.append(" ".join(f"{name}={value}" for name, value in given.items()))


def _stream(case: Case, chance: random.Random, world: Path) -> None:
    name = chance.choice(["stdin", "stdout", "stdout", "stderr"])
    case.streams[name] = chance.choice(STREAMS[name])
    case.wrong.append(f"{name} {case.streams[name]}")


def _limit(case: Case, chance: random.Random, world: Path) -> None:
    case.limits |= chance.choice(LIMITS)
    case.wrong.append(f"limits {case.limits}")
