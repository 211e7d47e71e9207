"""``fairseq-xl match mint``: labelled pairs of one language from another's, through translations."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, fields, replace
from pathlib import Path

from fairseq_xl.io.atomic import atomic_outputs
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.progress import progress_bar
from fairseq_xl.io.tables import parse_settings, stream_rows
from fairseq_xl.pairs.augmentation.key import EnglishKey
from fairseq_xl.pairs.augmentation.label_transfer import DECISIONS, Mint, Minted, Settings
from fairseq_xl.pairs.data.source import PairSource

DEFAULTS = Settings()


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the step's options."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = (
        "Mint labelled pairs of a target language from English ones. Sentences whose English translations have the\n"
        "same key (no stop words, no numbers, any order; see `pairs audit`) match; a labelled English pair passes\n"
        "its label to the sentences whose translations have the keys of its questions."
    )
    parser.epilog = (
        "A SOURCE is FILE[,KEY=VALUE]… with the keys left, right, label, left_translation, right_translation\n"
        "(columns), format, encoding; such files are read into memory. FILE of --sentences is read line by line:\n"
        "FILE[,text=COLUMN,translation=COLUMN] (default: columns 1 and 2), separated by tabs, UTF-8.\n\n"
        "The output has the columns left, right, label, left_translation, right_translation and origin (match or\n"
        "transferred); beside it FILE.json says what was counted and how it was made. SQLite works in a temporary\n"
        "file beside the output and sorts in the folder that SQLITE_TMPDIR names."
    )
    parser.add_argument(
        "--labelled",
        nargs="+",
        default=[],
        metavar="SOURCE",
        help="labelled pairs whose left and right are English: the pair's own sentences, or the translations of a "
        "target-language pair, as left= and right= say",
    )
    parser.add_argument(
        "--sentences",
        nargs="+",
        default=[],
        metavar="FILE",
        help="sentences of the target language, each with its English translation; any number of them",
    )
    parser.add_argument(
        "--from-pairs",
        nargs="+",
        default=[],
        metavar="SOURCE",
        help="pairs of the target language, with left_translation and right_translation, whose sentences are used "
        "and whose labels are not",
    )
    parser.add_argument(
        "--exclude",
        nargs="+",
        default=[],
        metavar="SOURCE",
        help="pairs of the target language that are not to be minted, in either order: those that models will be "
        "judged on",
    )
    parser.add_argument(
        "--exclude-sentences",
        action="store_true",
        help="keep the sentences of --exclude out altogether, not only their pairs",
    )
    parser.add_argument("--output", "-o", type=Path, required=True, metavar="FILE", help="file to write (.tsv)")
    parser.add_argument(
        "--per-key",
        type=int,
        default=DEFAULTS.per_key,
        metavar="N",
        help="at most N matching pairs of the sentences of one key (default: %(default)s); lower it where a few "
        "frequent questions make up most of the output",
    )
    parser.add_argument(
        "--per-pair",
        type=int,
        default=DEFAULTS.per_pair,
        metavar="N",
        help="at most N pairs of the sentences of two keys that labelled pairs connect (default: %(default)s)",
    )
    parser.add_argument(
        "--conflicts",
        choices=tuple(DECISIONS),
        default=DEFAULTS.conflicts,
        help="a pair that gets both labels: drop it (default), or majority: let the labelled pairs vote, a common "
        "key counting as one; a tie drops it",
    )
    parser.add_argument(
        "--balance", action="store_true", help="draw as many pairs of the more frequent label as there are of the other"
    )
    parser.add_argument(
        "--stop-words",
        type=Path,
        metavar="FILE",
        help="English words that keys leave out, instead of the package's list",
    )
    parser.add_argument("--seed", type=int, default=DEFAULTS.seed, help="of all that is drawn (default: %(default)s)")


def run(args: argparse.Namespace) -> None:
    """Mint, and write the pairs and their summary.

    Raises:
        InputError: nothing to mint from, a limit below 1, a seed below 0, or a file that cannot be used.
    """
    for option in ("per_key", "per_pair"):
        if getattr(args, option) < 1:
            raise InputError(f"--{option.replace('_', '-')} is {getattr(args, option)}: give 1 or more")
    if args.seed < 0:
        raise InputError(f"--seed is {args.seed}: give 0 or more")
    if not args.sentences and not args.from_pairs:
        raise InputError("there are no sentences to make pairs of: give --sentences or --from-pairs")
    settings = Settings(args.per_key, args.per_pair, args.conflicts, args.balance, args.exclude_sentences, args.seed)
    summary_path = args.output.with_name(args.output.name + ".json")
    database = args.output.with_name(f".{args.output.name}.sqlite")
    with atomic_outputs(args.output, summary_path) as (output, summary):
        database.unlink(missing_ok=True)  # of a run that was killed
        try:
            with closing(Mint(database, EnglishKey.of_file(args.stop_words), settings)) as mint:
                _read(mint, args)
                _write(output, mint.pairs())
        finally:
            database.unlink(missing_ok=True)
        inputs = {name: getattr(args, name) for name in ("labelled", "sentences", "from_pairs", "exclude")}
        stop_words = str(args.stop_words) if args.stop_words else None
        about = {"settings": asdict(settings), "inputs": inputs, "stop_words": stop_words}
        text = json.dumps({"counts": mint.counts, **about}, ensure_ascii=False, indent=2)
        summary.write_text(text + "\n", encoding="utf-8")
    for name, count in mint.counts.items():
        print(f"{count:>12,} {name}", file=sys.stderr)


def _read(mint: Mint, args: argparse.Namespace) -> None:
    for line in args.exclude:
        mint.keep_out((pair.left, pair.right) for pair in _unlabelled(line).pairs())
    for line in args.labelled:
        source = PairSource.parse(line)
        if source.options.get("label") == "none":
            raise InputError(f"{line!r}: --labelled needs labels: name their column")
        mint.read_labelled((pair.left, pair.right, pair.label) for pair in source.pairs() if pair.label is not None)
    for line in args.from_pairs:
        source = _unlabelled(line)
        if "left_translation" not in source.options:
            raise InputError(f"{line!r}: --from-pairs needs translations: name left_translation and right_translation")
        mint.read_sentences(_sides(source))
    for line in args.sentences:
        mint.read_sentences(_sentences(line))


def _unlabelled(line: str) -> PairSource:
    source = PairSource.parse(line)
    return replace(source, options={**source.options, "label": "none"})


def _sides(source: PairSource) -> Iterator[tuple[str, str]]:
    for pair in source.pairs():
        assert pair.translations is not None
        yield from zip((pair.left, pair.right), pair.translations, strict=True)


def _sentences(line: str) -> Iterator[tuple[str, str]]:
    """Raises: InputError: a line without text or translation, besides what :func:`stream_rows` raises."""
    path, options = parse_settings(line, ("text", "translation"))
    chosen = options.get("text", "1"), options.get("translation", "2")
    with progress_bar(f"reading {path.name}", shown=True, total=None, unit=" sentences") as bar:
        for row in stream_rows(path, chosen):
            if row.names:
                continue
            text, translation = map(str.strip, row.chosen)
            if not text or not translation:
                missing = "translation" if text else "text"
                raise InputError(f"{path}, line {row.number}: the {missing} is empty: leave the line out")
            bar.update()
            yield text, translation


def _write(path: Path, pairs: Iterator[Minted]) -> None:
    names = [field.name for field in fields(Minted)]
    with (
        path.open("w", encoding="utf-8", newline="\n") as stream,
        progress_bar("writing pairs", shown=True, total=None, unit=" pairs") as bar,
    ):
        stream.write("\t".join(names) + "\n")
        for pair in pairs:
            stream.write("\t".join(str(getattr(pair, name)) for name in names) + "\n")
            bar.update()
