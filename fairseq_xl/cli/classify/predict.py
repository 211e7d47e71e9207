"""``fairseq-xl classify predict``: classes of new text, or of a split of the data directory with its scores."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from fairseq_xl.io.atomic import text_output
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import argument, device_option, option, refuse_given, user_dir_option
from fairseq_xl.siamese.models.voting_options import ReferenceVoting

if TYPE_CHECKING:
    from fairseq_xl.siamese.prediction.classifier import TextClassifier

AT_ONCE = 2048


@dataclass(kw_only=True)
class Predict(ReferenceVoting):
    """Classify text by the reference sentences that it is nearest to. With --split, classify a split of the data
    directory instead and write a record of its predictions."""

    model: Path = argument("checkpoint of fairseq-train")
    input: Path | None = argument("text to classify, one sentence a line", None, shown="standard input")
    split: str | None = option(
        "classify this split of the data instead, and write a record of predictions for `fairseq-xl classify report`",
        None,
        choices=("valid", "test"),
    )
    data: Path | None = option("the data directory, where it has moved since training", None, metavar="DIR")
    output: Path | None = option("file to write", None, alias="-o", metavar="FILE", shown="standard output")
    language: str | None = option("language of the text", None, metavar="CODE", shown="the low-resource one")
    explain: int = option("reference sentences to show", 3, low=0, metavar="N")
    class_bias: bool = option(
        "add to each class's score a bias that is fitted on the validation split. Give it where there are many "
        "classes: training draws all alike, so rare ones are predicted too often",
        False,
    )
    labels_only: bool = option("one class a line instead of JSON", False)
    name: str = option("name of the system in the record of --split", "SSC")
    curve: tuple[str, str] | None = option(
        "make the record of --split a point of a learning curve, at N training sentences",
        None,
        metavar=("LINE", "N"),
        shown="of the system's own, at the low-resource language's",
    )
    device: str | None = device_option()
    user_dir: Path | None = user_dir_option()

    def run(self) -> None:
        """Classify and write.

        Raises:
            InputError: no such checkpoint, data or text; a blank line; options that make no sense.
        """
        import fairseq_xl

        if self.split and self.output is None:
            raise InputError("--split writes a record: name its file with --output")
        if self.split and (self.input or self.language or self.labels_only):
            raise InputError("--split judges the data's own text: leave out the file, --language and --labels-only")
        if self.split or self.labels_only:
            refuse_given(self, ["explain"], "shows reference sentences, and nothing shows them here")
        if not self.split:
            refuse_given(self, ["name", "curve"], "is of the record of --split, which is not given")
        if self.class_bias and self.split == "valid":
            raise InputError("--class-bias is fitted on the split valid: give --split test, or text")
        if self.curve and not (self.curve[1].isdecimal() and int(self.curve[1])):
            raise InputError(f"--curve takes a name and a number from 1, not {self.curve[1]!r}")
        if self.input and not self.split and not self.input.exists():  # said before references are encoded and kept
            raise InputError(f"there is no file {self.input}: check the name")
        with text_output(self.output) as stream:
            fairseq_xl.register()
            from fairseq_xl.siamese.prediction.classifier import TextClassifier

            classifier = TextClassifier.load(self.model, self, self.data, self.device)
            if self.class_bias:
                classifier.fit_bias()
            if self.split:
                self._record(classifier, self.split, stream)
            else:
                self._classify(classifier, stream)

    def _record(self, classifier: TextClassifier, split: str, stream: TextIO) -> None:
        from fairseq_xl.siamese.evaluation import records

        record = classifier.record(split, self.name)
        if self.curve:
            record |= {"line": self.curve[0], "low_resource_size": int(self.curve[1])}
        records.write(record, stream)
        print(f"macro-F1 {100 * record['macro_f1']:.1f}", file=sys.stderr)

    def _classify(self, classifier: TextClassifier, stream: TextIO) -> None:
        from fairseq_xl.io.lines import decode_lines, read_lines

        side = classifier.side_of(self.language) if self.language else "low"
        lines = read_lines(self.input) if self.input else decode_lines(sys.stdin.buffer, "standard input")
        unseen = total = 0
        for batch in _batches(lines, classifier, str(self.input or "standard input")):
            total += len(batch)
            for text, found in zip(batch, classifier.predict(batch, side, self.explain), strict=True):
                unseen += found.known == 0
                row = {"text": text, **asdict(found)}
                stream.write((found.label if self.labels_only else json.dumps(row, ensure_ascii=False)) + "\n")
        if unseen:
            print(
                f"{unseen} of {total} sentences have no n-gram that the training text has: their classes are guesses",
                file=sys.stderr,
            )


def _batches(lines: Iterable[str], classifier: TextClassifier, name: str) -> Iterable[list[str]]:
    """Raises: InputError: a blank line."""
    batch: list[str] = []
    for number, line in enumerate(lines, start=1):
        if not classifier.task.directory.clean(line):
            raise InputError(f"{name}, line {number} is empty: leave it out, for it has no class")
        batch.append(line)
        if len(batch) == AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch
