"""``fairseq-xl match normalise``: repair words without a vector."""

from __future__ import annotations

import argparse
from pathlib import Path

from fairseq_xl.cli.match.wording_options import add_wording, chosen_wording
from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.augmentation.repair import LANGUAGES, RULES


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the step's options."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = (
        "Repair words that have no vector, and no others. Rules, in this order:\n"
        "  accents   the vocabulary has the word with other accents: cupon → cupón\n"
        "  spelling  (--language es) it has a word that sounds the same: recivido → recibido\n"
        "  doubled   it has the word with other letters doubled: reembolsso → reembolso\n"
        "  joined    two words were written as one, or one with a mark inside: porfavor → por favor\n"
        "  near      a frequent word of the texts is a letter or two away: reemboloso → reembolso\n"
        "Words with digits stay. Give all files of a task at once: frequencies are those of all of them."
    )
    parser.epilog = (
        "A FILE is FILE[,columns=A+B…][,translations=C+D…], separated by tabs, UTF-8; a column is a number or a\n"
        "name of the first row (default: 1+2). A word that stands in the sentence's translation as well is a name\n"
        "and stays. Rows, columns and everything but the repaired words come out as they were (but a repaired\n"
        "sentence has its letters and accents composed, Unicode's NFC); FILE.gz comes out as FILE."
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="files to repair")
    parser.add_argument(
        "--vectors",
        type=Path,
        required=True,
        metavar="FILE",
        help="word vectors (.vec, .txt, .npy, .bin), whose words are the vocabulary, frequent words first",
    )
    parser.add_argument("--output", "-o", type=Path, required=True, metavar="DIR", help="folder for the repaired files")
    parser.add_argument(
        "--language", choices=LANGUAGES, help="whose spelling confusions are known; without it that rule does not apply"
    )
    parser.add_argument(
        "--without", nargs="+", choices=RULES, default=[], metavar="RULE", help=f"switch rules off: {', '.join(RULES)}"
    )
    parser.add_argument(
        "--times",
        type=int,
        default=10,
        metavar="N",
        help="two words for one, or a near word, must stand N times as often in the files as what they replace "
        "(default: %(default)s); raise it where good rare words are replaced",
    )
    parser.add_argument(
        "--lengths",
        type=int,
        nargs=3,
        default=(4, 5, 12),
        metavar="N",
        help="shortest word to repair by spelling and doubled, by a near word one letter away, and by one two "
        "letters away; raise them where good short words are changed (default: 4 5 12)",
    )
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="FILE",
        help="words that stay as they are, such as names of products, separated by blanks or lines",
    )
    parser.add_argument(
        "--changes", type=Path, metavar="FILE", help="list every change: file, line, word, replacement, rule"
    )
    add_wording(parser, cut=False)


def run(args: argparse.Namespace) -> None:
    """Repair the files and print what they lacked before and after.

    Raises:
        InputError: a file that cannot be read, an output that would replace an input, or a limit below 1.
    """
    from fairseq_xl.io.atomic import atomic_text
    from fairseq_xl.pairs.augmentation import normalise
    from fairseq_xl.pairs.augmentation.repair import Repair
    from fairseq_xl.pairs.augmentation.stopwords import read_words
    from fairseq_xl.pairs.data.vocabulary import vector_words
    from fairseq_xl.report.tables import Table

    if min(args.times, *args.lengths) < 1:
        raise InputError("--times and --lengths are 1 or more")
    files = [normalise.TextFile.parse(line) for line in args.files]
    outputs = [args.output / file.path.name.removesuffix(".gz") for file in files]
    _check(outputs, [file.path for file in files])
    wording = chosen_wording(args)
    vocabulary = vector_words(args.vectors)
    if wording.lower:  # words with capitals are never looked up
        vocabulary = {word: rank for word, rank in vocabulary.items() if word == word.lower()}
    counts, neighbours = normalise.count(files, wording)
    keep = read_words(args.keep) if args.keep else ()
    rules = [rule for rule in RULES if rule not in args.without]
    repair = Repair(vocabulary, counts, neighbours, args.language, rules, args.times, tuple(args.lengths), keep)
    headings = ["file"]
    for what in ("terms", "sentences", "pairs"):
        headings += [f"{what}, before", f"{what}, after"]
    table = Table("Without a vector", [*headings, *repair.rules])
    changes = []
    for file, output in zip(files, outputs, strict=True):
        outcome, found = normalise.write(file, output, repair, wording)
        changes += found
        before, after = outcome.before, outcome.after
        cells = [before.terms, after.terms, before.sentences, after.sentences, before.pairs, after.pairs]
        cells += [outcome.rules[rule] for rule in repair.rules]
        table.add(file.path.name, *(f"{cell:,}" for cell in cells))
    print(table.markdown())
    if args.changes:
        with atomic_text(args.changes) as stream:
            stream.write("file\tline\tword\treplacement\trule\n")
            for c in changes:
                stream.write(f"{c.path}\t{c.line}\t{c.word}\t{c.replacement}\t{c.rule}\n")


def _check(outputs: list[Path], inputs: list[Path]) -> None:
    for place, (output, path) in enumerate(zip(outputs, inputs, strict=True)):
        if output in outputs[:place]:
            raise InputError(f"two files would become {output}: repair them into different folders")
        if output.exists() and path.exists() and output.samefile(path):
            raise InputError(f"{path} would replace itself: name another folder with -o")
