"""From parallel text to training data and evaluation sets."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import GREATEST_SEED, argument, option
from fairseq_xl.syntactic.data.prepare import Preparation


@dataclass(kw_only=True)
class Prepare(Preparation):
    """Make the data of `fairseq-train --task upos_translation` from parallel text. The command reads, filters, joins,
    tags, chooses and preprocesses. It continues where an earlier call was killed."""

    output: Path = option("data directory to write", alias="-o", metavar="DATA")

    def run(self) -> None:
        from fairseq_xl.syntactic.data.prepare import prepare

        print(pair_table(prepare(self, self.output)))


@dataclass(kw_only=True)
class Statistics:
    """Print how many pairs of which languages there are (the paper's Table 2)."""

    data: Path = argument("a data directory (its training pairs), or a corpus file (all pairs that passed the filters)")

    def run(self) -> None:
        if self.data.is_dir():
            from fairseq_xl.syntactic.data.directory import read_manifest

            pairs = read_manifest(self.data).pairs
            counts = {(pair.source, pair.target): pair.sentences["train"] for pair in pairs}
        else:
            from fairseq_xl.syntactic.data.corpus import Corpus

            with closing(Corpus(self.data, must_exist=True)) as corpus:
                counts = corpus.pair_counts()
        print(pair_table(counts))


@dataclass(kw_only=True)
class SourcePieces:
    """Write the distinct source sentences of training data as pieces, for `fairseq-xl vectors train`. Its vectors are
    for `fairseq-train --encoder-embed-path`."""

    data: Path = argument("data directory of prepare")
    output: Path = option("file to write, one sentence a line", alias="-o", metavar="FILE")

    def run(self) -> None:
        import fairseq_xl

        fairseq_xl.register()  # which explains damaged data, and takes fairseq's lines off the terminal
        from fairseq_xl.io.atomic import atomic_text
        from fairseq_xl.syntactic.data.source_pieces import source_pieces

        with atomic_text(self.output) as stream:
            for sentence in source_pieces(self.data):
                stream.write(sentence + "\n")


@dataclass(kw_only=True)
class BuildEval:
    """Sample groups of sentences with the same tags, to be held out and searched for."""

    data: list[Path] = argument("a corpus file that is tagged (prepare --until tag), or treebanks of one language")
    output: Path = option("folder to write the tables LANG.tsv to", alias="-o", metavar="EVAL")
    languages: list[str] = option(
        "languages to write (default: all tagged ones of the corpus); of treebanks: their language",
        [],
        alias="-l",
        metavar="L",
    )
    groups: int = option("groups to sample of each language; the paper has 160 of English", 160, metavar="N", low=1)
    one_in: int = option(
        "sample at most one group in N, so that small languages keep others to train on", 10, metavar="N", low=1
    )
    all: list[str] = option("languages of which all groups are kept, as the paper does with Korean", [], metavar="L")
    least: int = option("sentences that make a group", 6, metavar="N", low=1)
    min_tags: int = option(
        "fewest tags of a group; 4 leaves out those that length alone tells apart", 1, metavar="N", low=1
    )
    dev: float = option(
        "of the groups, write this share to EVAL/dev/LANG.tsv instead, for choosing settings: 0.3 (0: none)",
        0.0,
        metavar="SHARE",
        low=0,
        high=1,
    )
    seed: int = option("seed of the sample", 1, low=0, high=GREATEST_SEED)

    def run(self) -> None:
        """Write a table for each language.

        Raises:
            InputError: data that cannot be read or has no groups, languages that it has not. Also a table in the
                way that is not as this command wrote it.
        """
        from fairseq_xl.io.folders import own_files
        from fairseq_xl.syntactic.data.groups import long_enough, part, read_groups, sample, write_groups

        found = {
            language: long_enough(groups, self.min_tags)
            for language, groups in read_groups(self.data, self.languages, self.least).items()
        }
        for language in self.all:
            if language not in found:
                raise InputError(f"--all {language}: there are only groups in {', '.join(found)}, so leave it out")
        files = {}
        for language, groups in found.items():
            number = len(groups) if language in self.all else min(self.groups, -(-len(groups) // self.one_in))
            seed = f"{self.seed} {language}"
            files[f"{language}.tsv"] = sample(groups, number, seed)
            if self.dev:
                files[f"dev/{language}.tsv"], files[f"{language}.tsv"] = part(files[f"{language}.tsv"], self.dev, seed)
        # Other languages have calls of their own. A dev table of an earlier call may have groups that are among these.
        with own_files(self.output, "embed build-eval", lambda name: Path(name).stem not in found) as folder:
            for name, kept in files.items():
                write_groups(folder / name, kept)
        for name, kept in files.items():
            sentences, groups = sum(map(len, kept.values())), found[Path(name).stem]
            print(
                f"{self.output / name}: {sentences} sentences in {len(kept)} of {len(groups)} groups", file=sys.stderr
            )


def pair_table(counts: Mapping[tuple[str, str], int]) -> str:
    """A Markdown table, source languages down and target languages across."""
    from fairseq_xl.report.tables import markdown_lines

    sources = sorted({source for source, _ in counts})
    targets = sorted({target for _, target in counts})
    rows = (
        [source, *(f"{counts[source, target]:,}" if (source, target) in counts else "-" for target in targets)]
        for source in sources
    )
    return "\n".join(markdown_lines(["source", *targets], rows))
