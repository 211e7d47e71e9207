"""``fairseq-xl match prepare``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.cli.match.common import SOURCE
from fairseq_xl.io.settings import argument, option
from fairseq_xl.pairs.data.settings import Settings


@dataclass(kw_only=True)
class Prepare(Settings):
    """Make a data directory of files of pairs: words, splits without leaks, folds, a dictionary and vectors."""

    sources: list[str] = argument(
        f"{SOURCE}. The key split is train, valid or test (default: train), or train_only for training pairs that no "
        "fold is judged on. The key fold names a column of the file with numbers of folds, from 0. The key languages "
        "has those of left and right, such as en+fr. Their words are told apart, and their vectors come from "
        "`fairseq-xl vectors join`. The keys left_translation and right_translation name columns of translations, and "
        "translation_languages has their languages. A sentence and its translation then lie in one fold, and --leaks "
        "takes them for one sentence",
        metavar="SOURCE",
    )
    output: Path = option("data directory to write", alias="-o", metavar="DIR")
    also: list[str] = option(
        "pairs to be judged later, whose words enter the dictionary where they have a vector", [], metavar="SOURCE"
    )
    supplement: list[str] = option(
        "pairs of other corpora to train on as well, whichever fold is held out. Those that share a sentence with a "
        "pair of the files above are left out, and no fold and no split is judged on them",
        [],
        metavar="SOURCE",
    )

    def run(self) -> None:
        """Prepare and say what is there.

        Raises:
            InputError: a source that cannot be used.
        """
        self.check()
        from fairseq_xl.pairs.data.source import PairSource

        sources, also, supplement = (
            [PairSource.parse(line) for line in given] for given in (self.sources, self.also, self.supplement)
        )
        import fairseq_xl

        fairseq_xl.register()
        from fairseq_xl.pairs.data.directory import DataDirectory
        from fairseq_xl.pairs.data.prepare import inside, prepare

        manifest = prepare(self.output, sources, also, self, supplement)
        for split, count in manifest["pairs"].items():
            print(f"{split}: {count} pairs, {manifest['matching'][split]} labelled as matching", file=sys.stderr)
        for why, count in manifest["left_out"].items():
            if count:
                print(f"left out of training: {count} {why}", file=sys.stderr)
        if found := manifest["chains"]:
            labelled, right = found["with a label of their own"], found["of these matching"]
            share = f", of which {right / labelled:.1%} match" if labelled else ""
            print(f"pairs through chains: {found['pairs']}; {labelled} more have a label{share}", file=sys.stderr)
        if added := manifest["supplement"]:
            print(f"supplement: {added['pairs']} pairs, {added['matching']} labelled as matching", file=sys.stderr)
            for why, count in added["left_out"].items():
                if count:
                    print(f"left out of the supplement: {count} {why}", file=sys.stderr)
        if manifest["folds"] > 1:
            *counts, across = inside(DataDirectory(self.output).rows("train"), manifest["folds"])
            print(f"pairs in each fold: {' '.join(map(str, counts))}; across folds: {across}", file=sys.stderr)
        vectors = manifest["vectors"]
        known = "random vectors" if vectors is None else f"{vectors['found']} with a vector"
        print(f"{manifest['words']} words, {known}", file=sys.stderr)
