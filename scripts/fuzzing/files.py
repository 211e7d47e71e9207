"""Spoilt files for every parser of the suite; the parsers stand in tests/helpers/parsers.py."""

from __future__ import annotations

import faulthandler
import random
import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path

import parsers
import spoiling
from tqdm import tqdm


def run(minutes: float, seed: str, output: Path, names: list[str] | None) -> int:
    """Spoil files for so many minutes.

    Returns:
        the exit status: 1 where a parser breaks.

    Raises:
        ValueError: there is no such parser.
    """
    known = parsers.PARSERS
    if unknown := set(names or ()) - set(known):
        raise ValueError(f"no parser {', '.join(sorted(unknown))}; there are: {', '.join(known)}")
    faulthandler.enable()
    draw = random.Random(seed)
    tried: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    until = time.monotonic() + 60 * minutes
    with tqdm(total=round(60 * minutes), unit="s") as bar:
        while time.monotonic() < until:
            for name in names or known:
                content = spoiling.spoil(known[name].good, draw)
                folder = Path(tempfile.mkdtemp(prefix="fuzz."))
                # A parser that takes the process down with it leaves its file behind.
                why = known[name].fault(folder, content)
                tried[name] += 1
                if why is not None:
                    faults[name] += 1
                    kept = output / name.replace(" ", "-") / str(tried[name])
                    shutil.rmtree(kept, ignore_errors=True)
                    shutil.copytree(folder, kept)
                    (kept / "why.txt").write_text(why, encoding="utf-8")
                shutil.rmtree(folder)
            bar.n = min(bar.total, bar.total - round(until - time.monotonic()))
            bar.refresh()
    print(f"{sum(tried.values())} files for {len(tried)} parsers, {sum(faults.values())} faults")
    for name, number in faults.most_common():
        print(f"  {name}: {number} of {tried[name]}, kept in {output / name.replace(' ', '-')}")
    return int(bool(faults))
