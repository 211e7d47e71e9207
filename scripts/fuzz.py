"""Try hostile files on every parser, or hostile circumstances on every command, and keep what breaks one.

    python scripts/fuzz.py files --minutes 30
    python scripts/fuzz.py commands --minutes 30

files: a parser reads a spoilt file or refuses it in one sentence. Each file that makes it do anything else, or think
for longer than a minute, is kept as OUTPUT/PARSER/NUMBER/, with what happened in why.txt.

commands: a good command line gets hostile values, places, environments, streams, limits or a signal. It may not show a
traceback, hang, change what is not its output, leave half a file, or end with a status that does not fit what it said;
a user's mistake is status 2 and a sentence. What fails is kept as OUTPUT/commands/KIND/NUMBER/, with what happened in
why.txt and the case itself in case.json, which --repeat carries out again.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests" / "helpers")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("files", "commands"))
    parser.add_argument("--minutes", type=float, default=5, help="for how long (default: 5)")
    parser.add_argument("--output", type=Path, default=Path("fuzz"), help="folder for what fails (default: fuzz)")
    parser.add_argument("--seed", default="1", help="another one finds other faults (default: 1)")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="parsers, or commands such as 'data clean'")
    parser.add_argument("--most", type=int, metavar="N", help="commands: stop after so many cases")
    parser.add_argument("--repeat", type=Path, metavar="CASE", help="commands: carry out one case.json again")
    args = parser.parse_args()
    try:
        if args.what == "files":
            from fuzzing import files

            return files.run(args.minutes, args.seed, args.output, args.only)
        from fuzzing import commands

        if args.repeat:
            return commands.repeat(args.repeat)
        return commands.run(args.minutes, args.seed, args.output, args.only, args.most)
    except ValueError as error:
        parser.error(str(error))


if __name__ == "__main__":
    sys.exit(main())
