"""``fairseq-xl corpus paraphrases``: labelled pairs of one language from its translations into others."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.corpus.pairs.settings import ParaphraseSettings
from fairseq_xl.io.settings import argument, option, user_dir_option


@dataclass(kw_only=True)
class Paraphrases(ParaphraseSettings):
    """Write paraphrases, and as many pairs that are none, into train.tsv and test.tsv. Two sentences with the same
    translation are paraphrases. A negative is taken from another pair, and is about as long as the paraphrase and as
    near in words. `fairseq-xl match prepare` reads the tables, and so does the recipe semantic_similarity.sh
    (--corpus)."""

    translations: list[Path] = argument(
        "files with sentences of one language and their translations, in columns separated by tabs; a file for each "
        "pivot language, or several",
        metavar="TSV",
    )
    output: Path = option("folder to write", alias="-o", metavar="DIR")
    encoder: str = option(
        "what gives vectors to the sentences: vectors:FILE (word vectors, averaged), an encoder folder or a checkpoint "
        "of this suite, sentence-transformers:NAME or transformers:NAME"
    )
    columns: tuple[int, int] = option(
        "of the sentences and of their translations, from 1", (1, 2), low=1, metavar=("N", "N")
    )
    user_dir: Path | None = user_dir_option()

    def run(self) -> None:
        """Raises: InputError: a file that is none, no two sentences with a translation in common, too few negatives."""
        from fairseq_xl.corpus.pairs.paraphrases import paraphrases, read_sentence_pairs, through_pivots, write_labelled
        from fairseq_xl.corpus.pairs.shallow_baseline import shallow_baseline

        found = through_pivots([read_sentence_pairs(path, self.columns) for path in self.translations], self.most)
        rows = paraphrases(found, self.encoder, self)
        right = shallow_baseline(rows, self.seed)
        write_labelled(self.output, rows)
        print(f"{len(found)} paraphrases, {len(rows) // 2} with a negative: {len(rows)} pairs", file=sys.stderr)
        for name, accuracy in right.items():
            print(f"shallow baseline, {name}: {accuracy:.4f}", file=sys.stderr)
