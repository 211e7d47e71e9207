"""``fairseq-xl classify report``: the paper's Tables 5 and 6 with intervals and tests, from records."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.json_text import loads
from fairseq_xl.siamese.data.checks import check_folder


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the step's options."""
    parser.description = (
        "Compare systems from the records that `predict --part` and `baseline` write; records of one name are runs "
        "(seeds) of one system, unless they learnt from different numbers of sentences. Writes scores.md, .tex and "
        ".csv, a table of each class, a confusion matrix of each system as .png and .pdf, and, for systems that "
        "learnt from several numbers of the poor language's sentences, the learning curve."
    )
    parser.add_argument("records", type=Path, nargs="+", help="records")
    parser.add_argument("--output", "-o", type=Path, required=True, metavar="DIR", help="folder to write")
    parser.add_argument(
        "--system",
        metavar="NAME",
        help="the system to test the others against by McNemar's test (default: that with the highest macro-F1)",
    )
    parser.add_argument("--samples", type=int, default=2000, help="draws for the intervals (default: 2000)")
    parser.add_argument("--no-figures", action="store_true", help="tables alone")


def read_record(path: Path) -> dict[str, Any]:
    """Raises: InputError: no record of predictions."""
    try:
        record = loads(path.read_text(encoding="utf-8"))
        check_record(record)
    except FileNotFoundError:
        raise InputError(f"there is no record {path}") from None
    except OSError as error:
        raise InputError(f"cannot read the record {path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} is no record of predictions ({error!r}): write it anew") from None
    return record


def check_record(record: dict[str, Any]) -> None:
    """Raises: ValueError, KeyError, TypeError, AttributeError: what no step would write."""
    sizes = record.get("training_sentences", {})
    names = [record["name"], record["part"], record.get("line", ""), *record["languages"].values()]
    if not all(isinstance(name, str) for name in (*names, *record["classes"])) or "poor" not in record["languages"]:
        raise ValueError("names are not text")
    if not all(type(size) is int and size > 0 for size in (*sizes.values(), record.get("poor_size", 1))):
        raise ValueError("sizes are not numbers")
    gold, predicted = record["gold"], record["predicted"]
    if not gold or len(gold) != len(predicted):
        raise ValueError(f"{len(predicted)} predictions for {len(gold)} sentences")
    if not all(type(c) is int and 0 <= c < len(record["classes"]) for c in (*gold, *predicted)):
        raise ValueError("classes that there are not")


def check_samples(samples: int) -> None:
    """Raises: InputError: no draw to make an interval of."""
    if samples < 1:
        raise InputError(f"--samples takes a number from 1, not {samples}")


def run(args: argparse.Namespace) -> None:
    """Write the tables and say where.

    Raises:
        InputError: records that cannot be read or compared, an unknown system, no samples.
    """
    from fairseq_xl.siamese.evaluation import comparison

    check_samples(args.samples)
    check_folder(args.output)
    systems = comparison.group([read_record(path) for path in args.records])
    chosen = args.system or comparison.best(systems)
    if chosen not in systems:
        raise InputError(f"--system {chosen!r} is none of {', '.join(systems)}")
    tables = comparison.tables(systems, chosen, args.samples)
    for name, table in tables.items():
        for suffix, text in ((".md", table.markdown()), (".tex", table.latex()), (".csv", table.csv())):
            with atomic_text(args.output / f"{name}{suffix}") as stream:
                stream.write(text)
    if not args.no_figures:
        comparison.draw(systems, args.output)
    print(tables["scores"].markdown())
