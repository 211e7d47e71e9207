"""Cases over every command, one after another, and what fails kept with what repeats it."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tqdm import tqdm

from fuzzing import carry, draw, inputs, lines
from fuzzing.draw import Case
from fuzzing.judge import Fault, Whole, judge, judge_again

KEPT = 3
"""Cases of each family that are kept."""
RARE = ("doctor", "embed train-tagger")
"""Commands that take so long that they have their turn in every tenth round."""


class Bench:
    """Worlds that are made when a case first needs them, and what lines do undisturbed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.worlds: dict[str, Path] = {}
        self.wholes: dict[int, Whole] = {}
        carry.warm_up()

    def world(self, line: int) -> Path:
        group, _ = lines.group_and_name(lines.lines()[line])
        if group not in self.worlds:
            carry.warm_up(group)
            folder = self.folder / group
            self.worlds[group] = folder if folder.exists() else inputs.make(group, self.folder)
        return self.worlds[group]

    @contextlib.contextmanager
    def place(self, line: int) -> Iterator[carry.Place]:
        place = carry.Place(self.world(line), lines.lines()[line])
        try:
            yield place
        finally:
            place.remove()

    def whole(self, line: int, twice: bool = False) -> Whole:
        """What a line does; ``twice`` tells what it leaves apart from what differs each time.

        Raises:
            RuntimeError: it does not succeed.
        """
        if line not in self.wholes:
            self.wholes[line] = self._undisturbed(line)
        whole = self.wholes[line]
        if twice and not whole.compared:
            other = self._undisturbed(line)
            files = {path: content for path, content in whole.files.items() if other.files.get(path) == content}
            self.wholes[line] = whole = dataclasses.replace(
                whole, files=files, names=whole.names & other.names, compared=True
            )
        return whole

    def _undisturbed(self, line: int) -> Whole:
        case = draw.good(line)
        with self.place(line) as place:
            done = carry.carry_out(case, place)
        if faults := judge(case, done, None):
            raise RuntimeError(f"{lines.LINES.splitlines()[line + 1]}\n{faults[0].why}")
        if done.status:
            raise RuntimeError(f"{lines.LINES.splitlines()[line + 1]}\n{done.err}")
        new = {path: about for path, about in done.after.items() if done.before.get(path) != about}
        files = {path: content for path, (kind, _, content) in new.items() if kind == "file"}
        names = {path for path in new if path.startswith(("here/out", "here/in"))}
        return Whole(done.seconds, bool(done.out), files, names)

    def faults(self, case: Case) -> list[Fault]:
        """Carry a case out, and if it was killed, once more without that."""
        whole = self.whole(case.line, twice=case.signal is not None)
        with self.place(case.line) as place:
            done = carry.carry_out(case, place, whole.seconds)
            faults = judge(case, done, whole)
            if case.signal is not None and done.status not in (None, 0) and not faults:
                undisturbed = dataclasses.replace(case, signal=None)
                faults = judge_again(case, carry.carry_out(undisturbed, place), whole)
        return faults


def chosen(names: list[str] | None) -> list[int]:
    """The lines of these commands, or of all. Raises: ValueError: there is no such command."""
    every = [lines.group_and_name(words)[1] for words in lines.lines()]
    if unknown := set(names or ()) - set(every):
        raise ValueError(f"no command {', '.join(sorted(unknown))}; there are: {', '.join(dict.fromkeys(every))}")
    return [line for line, name in enumerate(every) if not names or name in names]


def turns(which: list[int], seed: str) -> Iterator[tuple[int, int]]:
    """Number of the case and its line, for ever: in each round every line in another order."""
    number, round_ = 0, 0
    while True:
        order = [line for line in which if round_ % 10 == 0 or draw.good(line).name not in RARE]
        random.Random(f"{seed} {round_}").shuffle(order)
        for line in order:
            yield number, line
            number += 1
        round_ += 1


def keep(folder: Path, case: Case, faults: list[Fault]) -> str:
    """A case and why it is one, with the command that repeats it.

    Returns:
        what why.txt says.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "case.json"
    file.write_text(json.dumps(dataclasses.asdict(case), indent=1) + "\n", encoding="utf-8")
    about = [
        f"fairseq-xl {' '.join(map(repr, case.words))}",
        *case.wrong,
        f"again: python scripts/fuzz.py commands --repeat {file}",
        *(f"\n{fault.family}\n{fault.why}" for fault in faults),
    ]
    text = "\n".join(about) + "\n"
    (folder / "why.txt").write_text(text, encoding="utf-8", errors="backslashreplace")
    return text


def run(minutes: float, seed: str, output: Path, names: list[str] | None, most: int | None = None) -> int:
    """Try cases for so many minutes, at most so many.

    Returns:
        the exit status: 1 where there is a fault.
    """
    which = chosen(names)
    tried: Counter[str] = Counter()
    families: Counter[str] = Counter()
    broken: set[int] = set()
    with tempfile.TemporaryDirectory(prefix="worlds.") as folder:
        Path(folder).chmod(0o755)
        bench = Bench(Path(folder))
        until = time.monotonic() + 60 * minutes
        with tqdm(total=round(60 * minutes), unit="s", disable=None) as bar:
            for number, line in turns(which, seed):
                if time.monotonic() > until or number == most:
                    break
                if line in broken:
                    continue
                try:
                    bench.whole(line)
                except RuntimeError as error:
                    broken.add(line)
                    families[f"the good line fails: {draw.good(line).name}"] += 1
                    tqdm.write(f"{error}")
                    continue
                case = draw.draw(line, f"{seed} {number}", bench.world(line))
                faults = bench.faults(case)
                tried[case.name] += 1
                for family in {fault.family for fault in faults}:
                    families[family] += 1
                    if families[family] <= KEPT:
                        slug = re.sub(r"[^\w.]+", "-", family)[:80]
                        why = keep(output / "commands" / slug / str(number), case, faults)
                        # Where CI runs this nobody can open the file.
                        tqdm.write(why.encode("ascii", "backslashreplace").decode())
                bar.n = min(bar.total, bar.total - round(until - time.monotonic()))
                bar.refresh()
    cases, found = sum(tried.values()), sum(families.values())
    print(f"{cases} cases of {len(tried)} commands, {found} faults of {len(families)} kinds")
    for family, count in families.most_common():
        print(f"  {count} {family}")
    if families:
        print(f"kept in {output / 'commands'}")
    return int(bool(families))


def repeat(file: Path) -> int:
    """Carry one case out again, and say what is wrong with it."""
    case = draw.Case(**json.loads(file.read_text(encoding="utf-8")))
    with tempfile.TemporaryDirectory(prefix="worlds.") as folder:
        Path(folder).chmod(0o755)
        faults = Bench(Path(folder)).faults(case)
    for fault in faults:
        print(f"{fault.family}\n{fault.why}")
    return int(bool(faults))
