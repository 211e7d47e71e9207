"""``fairseq-xl classify label``: classes for unlabelled sentence pairs, from their high-resource side."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fairseq_xl.io.atomic import atomic_texts
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import argument, device_option, option, user_dir_option
from fairseq_xl.siamese.models.voting_options import ReferenceVoting

if TYPE_CHECKING:
    from fairseq_xl.siamese.prediction.classifier import TextClassifier
    from fairseq_xl.siamese.prediction.unlabelled import Labelled


@dataclass(kw_only=True)
class Label(ReferenceVoting):
    """Label the high-resource side of line-aligned pairs, and give both sides that class. The classifier was trained on
    that language alone, which is the --low-resource of its data directory. The two files of the output are sources for
    `fairseq-xl classify prepare`."""

    model: Path = argument("checkpoint of a classifier of the high-resource language")
    high_resource: Path = argument("sentences of the high-resource language, one a line")
    low_resource: Path = argument("their counterparts in the low-resource language, line by line")
    output: tuple[Path, Path] = option(
        "files to write: class, tab, sentence", alias="-o", metavar=("HIGH_RESOURCE", "LOW_RESOURCE")
    )
    least: float = option(
        "leave out pairs whose class has a smaller share of the score. Use it with the rules matches and knn alone, "
        "since the shares of the other rules hardly differ",
        0.0,
        low=0,
        high=1,
        metavar="X",
        shown="0, keep all",
    )
    data: Path | None = option("the classifier's data directory, where it has moved", None, metavar="DIR")
    device: str | None = device_option()
    user_dir: Path | None = user_dir_option()

    def run(self) -> None:
        """Label and write.

        Raises:
            InputError: files of unequal length, no such checkpoint, options that make no sense.
        """
        import fairseq_xl

        fairseq_xl.register()
        from fairseq_xl.siamese.prediction.classifier import TextClassifier
        from fairseq_xl.siamese.prediction.unlabelled import Labelled, label_pairs
        from fairseq_xl.text.parallel import read_parallel

        with atomic_texts(*self.output) as (high_stream, low_stream):
            lines = read_parallel(self.high_resource, self.low_resource)
            classifier = TextClassifier.load(self.model, self, self.data, self.device)
            if self.least and not classifier.counts:
                raise InputError(
                    f"--least has no use with the rule {classifier.rule}, whose shares hardly differ: choose "
                    "--rule matches or knn"
                )
            count = Labelled()
            pairs = _filled(lines, classifier, count)
            found = label_pairs(pairs, lambda texts: classifier.predict(texts, neighbours=0), self.least, count)
            for label, high, low in found:
                high_stream.write(f"{label}\t{' '.join(high.split())}\n")
                low_stream.write(f"{label}\t{' '.join(low.split())}\n")
        print(count, file=sys.stderr)


def _filled(pairs: Iterable[tuple[str, str]], classifier: TextClassifier, count: Labelled) -> Iterator[tuple[str, str]]:
    for pair in pairs:
        if all(map(classifier.task.directory.clean, pair)):
            yield pair
        else:
            count.blank += 1
