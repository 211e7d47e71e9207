"""``fairseq-xl match transfer-labels`` and ``audit``: labelled pairs through translations, and how sure they are."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory

from fairseq_xl.cli.match.common import SOURCE, unlabelled
from fairseq_xl.io.atomic import atomic_outputs
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import hidden_folder
from fairseq_xl.io.progress import progress_bar
from fairseq_xl.io.settings import GREATEST_SEED, argument, option
from fairseq_xl.io.tables import parse_settings, stream_rows
from fairseq_xl.pairs.augmentation.label_transfer import LabelledPair, LabelTransfer, Settings, label_transfer
from fairseq_xl.pairs.data.source import PairSource


@dataclass(kw_only=True)
class TransferLabels(Settings):
    """Make labelled pairs of a target language from English ones. Sentences match whose English translations have the
    same key. A key has no stop words, no numbers and no order (see `match audit`). A labelled English pair passes its
    label to the sentences whose translations have the keys of its questions. The output has the columns left, right,
    label, left_translation, right_translation and origin (match or transferred). Beside it FILE.json says what was
    counted and how it was made. DuckDB works in a temporary folder beside the output.
    """

    labelled: list[str] = option(
        "labelled pairs whose left and right are English. With left= and right= you choose the pair's own sentences, "
        f"or the translations of a target-language pair. A SOURCE is {SOURCE}. The keys left_translation and "
        "right_translation name the columns of translations. Such files are read into memory",
        [],
        metavar="SOURCE",
    )
    sentences: list[str] = option(
        "sentences of the target language, each with its English translation: FILE[,text=COLUMN,translation=COLUMN] "
        "(default: columns 1 and 2), separated by tabs, UTF-8. Files are read line by line and may have any length",
        [],
        metavar="FILE",
    )
    from_pairs: list[str] = option(
        "pairs of the target language, with left_translation and right_translation. Their sentences are used and "
        "their labels are not",
        [],
        metavar="SOURCE",
    )
    exclude: list[str] = option(
        "pairs of the target language that the command does not make, in either order. Give those that you evaluate "
        "models on",
        [],
        metavar="SOURCE",
    )
    output: Path = option("file to write (.tsv)", alias="-o", metavar="FILE")
    stop_words: Path | None = option(
        "English words that keys leave out, instead of the package's list", None, metavar="FILE"
    )

    def run(self) -> None:
        """Write the pairs and their summary.

        Raises:
            InputError: nothing to make pairs of, or a file that cannot be used.
        """
        from fairseq_xl.pairs.augmentation.key import EnglishKey

        if not self.sentences and not self.from_pairs:
            raise InputError("there are no sentences to make pairs of: give --sentences or --from-pairs")
        if self.output.is_dir():
            raise InputError(f"cannot write {self.output}: it is a directory")
        summary_path = self.output.with_name(self.output.name + ".json")
        is_stream = self.output.exists() and not self.output.is_file()
        with ExitStack() as stack:
            output, *summary = stack.enter_context(atomic_outputs(self.output, *([] if is_stream else [summary_path])))
            # The data may be larger than what the folder for temporary files holds.
            beside: AbstractContextManager[str | Path] = (
                TemporaryDirectory() if is_stream else hidden_folder(self.output, self.output)
            )
            database = Path(stack.enter_context(beside)) / "database"
            with label_transfer(database, EnglishKey.of_file(self.stop_words), self) as transfer:
                self._read(transfer)
                _write(output, transfer.pairs())
            if self.balance and transfer.counts["pairs"] and not any("written" in name for name in transfer.counts):
                raise InputError(
                    f"{transfer.counts['pairs']} pairs are all of one label, of which --balance leaves none: give more "
                    "--labelled pairs, or leave it out"
                )
            inputs = {name: getattr(self, name) for name in ("labelled", "sentences", "from_pairs", "exclude")}
            about = {
                "counts": transfer.counts,
                "settings": {each.name: getattr(self, each.name) for each in fields(Settings)},
                "inputs": inputs,
                "stop_words": str(self.stop_words) if self.stop_words else None,
            }
            for path in summary:
                path.write_text(json.dumps(about, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        for name, count in transfer.counts.items():
            print(f"{count:>12,} {name}", file=sys.stderr)

    def _read(self, transfer: LabelTransfer) -> None:
        for line in self.exclude:
            transfer.exclude((pair.left, pair.right) for pair in unlabelled(line).pairs())
        for line in self.labelled:
            source = PairSource.parse(line)
            if source.options.get("label") == "none":
                raise InputError(f"{line!r}: --labelled needs labels: name their column")
            transfer.read_labelled(
                (pair.left, pair.right, pair.label) for pair in source.pairs() if pair.label is not None
            )
        for line in self.from_pairs:
            source = unlabelled(line)
            if "left_translation" not in source.options:
                raise InputError(
                    f"{line!r}: --from-pairs needs translations: name left_translation and right_translation"
                )
            transfer.read_sentences(_sides(source))
        for line in self.sentences:
            transfer.read_sentences(_sentences(line))


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


def _write(path: Path, pairs: Iterable[LabelledPair]) -> None:
    with (
        path.open("w", encoding="utf-8", newline="\n") as stream,
        progress_bar("writing pairs", shown=True, total=None, unit=" pairs") as bar,
    ):
        stream.write("\t".join(LabelledPair._fields) + "\n")
        for pair in pairs:
            stream.write("\t".join(map(str, pair)) + "\n")
            bar.update()


@dataclass(kw_only=True)
class Audit:
    """Judge the keys of `match transfer-labels` on labelled pairs of English. The table says which share of the
    matching pairs they recover, and how many pairs they find wrongly. It compares them with exact match, without case
    and punctuation, and with a classifier. The classifier is a logistic regression on TF-IDF similarities with a
    threshold of 0.5. It judges pairs of questions that it was not trained on.
    """

    source: str = argument(f"{SOURCE}. Here left and right are the English columns")
    show: int = option("print up to N wrongly found pairs of each method", 0, low=0, metavar="N")
    stop_words: Path | None = option(
        "English words that keys leave out, instead of the package's list. Compare lists: one may make fewer errors "
        "than another",
        None,
        metavar="FILE",
    )
    seed: int = option("seed of the classifier's folds", 1, low=0, high=GREATEST_SEED)

    def run(self) -> None:
        """Print the table and the wrong pairs.

        Raises:
            InputError: a source that cannot be read, has no labels or too few pairs.
        """
        from fairseq_xl.pairs.augmentation.audit import audit
        from fairseq_xl.pairs.augmentation.key import EnglishKey
        from fairseq_xl.pairs.data.source import PairSource

        pairs = list(PairSource.parse(self.source).pairs())
        if not pairs or pairs[0].label is None:
            raise InputError(f"{self.source!r} has no labelled pairs to judge by")
        table, methods = audit(pairs, EnglishKey.of_file(self.stop_words), self.seed)
        print(table.markdown())
        for name, found in methods.items() if self.show else ():
            wrong = [pair for pair, hit in zip(pairs, found, strict=True) if hit and not pair.label]
            print(f"{name}, wrongly found:")
            for pair in wrong[: self.show]:
                print(f"{pair.where}\t{pair.left}\t{pair.right}")
