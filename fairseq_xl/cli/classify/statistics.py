"""``fairseq-xl classify statistics``: the paper's Tables 1 to 4 for the data at hand."""

from __future__ import annotations

import argparse
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the step's options."""
    parser.add_argument("data", type=Path, nargs="+", help="prepared folders")


def run(args: argparse.Namespace) -> None:
    """Print the tables.

    Raises:
        InputError: no prepared folder.
    """
    import fairseq_xl

    fairseq_xl.register()
    from fairseq_xl.siamese.data.folder import Prepared
    from fairseq_xl.siamese.data.statistics import tables

    for table in tables([Prepared(folder) for folder in args.data]):
        print(table.markdown())
