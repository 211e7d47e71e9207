"""Spoil files for every parser of the suite, for as long as one likes, and keep what breaks one.

    python scripts/fuzz.py --minutes 30 --output fuzz

What a parser may do with a spoilt file is to read it or to refuse it in one sentence. Each file that makes it do
anything else, or think for longer than a minute, is kept as OUTPUT/PARSER/NUMBER/, with what happened in why.txt.
The parsers stand in tests/helpers/parsers.py; tests/test_fuzz.py tries a few files on each.
"""

from __future__ import annotations

import argparse
import faulthandler
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "helpers"))

import parsers


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=5, help="for how long (default: 5)")
    parser.add_argument("--output", type=Path, default=Path("fuzz"), help="folder for what breaks a parser")
    parser.add_argument("--seed", type=int, default=1, help="of the spoiling; another one finds other faults")
    parser.add_argument("--only", nargs="+", metavar="PARSER", help="names as tests/helpers/parsers.py has them")
    args = parser.parse_args()
    known = parsers.parsers()
    unknown = set(args.only or ()) - set(known)
    if unknown:
        parser.error(f"no parser {', '.join(sorted(unknown))}; there are: {', '.join(known)}")
    faulthandler.enable()
    draw = random.Random(args.seed)
    tried: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    until = time.monotonic() + 60 * args.minutes
    with tqdm(total=round(60 * args.minutes), unit="s") as bar:
        while time.monotonic() < until:
            for name in args.only or known:
                content = parsers.spoil(known[name].good, draw)
                folder = Path(tempfile.mkdtemp(prefix="fuzz."))
                # A parser that takes the process down with it leaves its file behind.
                why = known[name].fault(folder, content)
                tried[name] += 1
                if why is not None:
                    faults[name] += 1
                    kept = args.output / name.replace(" ", "-") / str(tried[name])
                    shutil.rmtree(kept, ignore_errors=True)
                    shutil.copytree(folder, kept)
                    (kept / "why.txt").write_text(why, encoding="utf-8")
                shutil.rmtree(folder)
            bar.n = min(bar.total, bar.total - round(until - time.monotonic()))
            bar.refresh()
    print(f"{sum(tried.values())} files for {len(tried)} parsers, {sum(faults.values())} faults")
    for name, number in faults.most_common():
        print(f"  {name}: {number} of {tried[name]}, kept in {args.output / name.replace(' ', '-')}")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
