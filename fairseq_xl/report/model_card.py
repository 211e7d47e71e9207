"""The card of a model: README.md with the front matter that the Hugging Face Hub reads, for people and for the Hub."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.json_files import opened_json
from fairseq_xl.io.settings import option
from fairseq_xl.report.tables import markdown_lines

NAME = "README.md"
_LICENCE = re.compile(r"[a-z0-9][a-z0-9.-]*")
"""How the Hub writes them."""


@dataclass(kw_only=True)
class CardOptions:
    """What a card says that nothing else knows."""

    licence: str = option(
        "licence of the model, by its identifier on the Hub (cc-by-4.0, apache-2.0, …). README.md is then a model card",
        "",
        metavar="LICENCE",
    )
    dataset: list[str] = option("what the card says the model was trained on, in words or as OWNER/DATA", [])
    record: Path | None = option("record.json of the run, whose scores the card has", None)

    @property
    def asked_for(self) -> bool:
        """Whether there shall be a card. Raises: InputError: a card without a licence, or without its identifier."""
        if not self.licence and (self.dataset or self.record):
            raise InputError("a model card states a licence: give --licence, such as cc-by-4.0")
        if self.licence and not _LICENCE.fullmatch(self.licence):
            raise InputError(
                f"--licence is {self.licence!r}, which is no identifier of the Hub: give one, such as cc-by-4.0, or "
                "other"
            )
        return bool(self.licence)


@dataclass(frozen=True)
class Score:
    """One score of a record.

    Attributes:
        data: name of the test set.
        setting: what else the score depends on, such as "beam 5".
        metric: its name, such as "BLEU".
        kind: the Hub's name of the metric, such as "bleu".
        score: its value.
        signature: what another must have alike to compare.
    """

    data: str
    setting: str
    metric: str
    kind: str
    score: float
    signature: str


@dataclass(frozen=True, kw_only=True)
class Card:
    """What stands on a card.

    Attributes:
        title: its heading.
        task: the Hub's name of what the model does: ``translation``, ``feature-extraction``.
        languages: codes of them.
        does: a sentence or two that say what the model does.
        loading: lines of Python that use it.
    """

    title: str
    task: str
    languages: Sequence[str]
    does: str
    loading: str

    def text(self, options: CardOptions, scores: Sequence[Score] = ()) -> str:
        """README.md, with a table of the scores where there are some."""
        head: dict[str, Any] = {
            "license": options.licence,
            "language": list(self.languages),
            "library_name": "fairseq_xl",
            "pipeline_tag": self.task,
            "tags": ["fairseq_xl", "fairseq"],
        }
        if published := [name for name in options.dataset if name.count("/") == 1 and " " not in name]:
            head["datasets"] = published
        if scores:
            head["metrics"] = sorted({one.kind for one in scores})
            head["model-index"] = [{"name": self.title, "results": list(self._results(scores))}]
        parts = [
            *opening(head, self.title),
            self.does,
            "",
            f"Licence: {options.licence}.",
            "",
            "## How to use it",
            "",
            "```python",
            self.loading.strip(),
            "```",
            "",
        ]
        if options.dataset:
            parts += ["## Data", "", *(f"- {name}" for name in options.dataset), ""]
        if scores:
            headings = ["test set", "setting", "metric", "score", "signature"]
            cells = ([one.data, one.setting, one.metric, str(one.score), f"`{one.signature}`"] for one in scores)
            parts += ["## Scores", "", *markdown_lines(headings, cells, "---"), ""]
        return "\n".join(parts)

    def _results(self, scores: Sequence[Score]) -> Iterator[dict[str, Any]]:
        for one in scores:
            yield {
                "task": {"type": self.task},
                "dataset": {"name": one.data, "type": one.data},
                "metrics": [{"type": one.kind, "value": one.score, "name": f"{one.metric}, {one.setting}"}],
            }


def opening(head: Mapping[str, Any], title: str) -> list[str]:
    """The first lines of a card: what the Hub reads, and the title."""
    return ["---", yaml.safe_dump(dict(head), allow_unicode=True, sort_keys=False).strip(), "---", "", f"# {title}", ""]


def card_scores(path: Path) -> list[Score]:
    """The scores of a translation run's record. Raises: InputError: no such file, or another one."""
    with opened_json(path, "record of a run", "name what `fairseq-xl experiment record` wrote") as record:
        return [
            Score(data, f"beam {beam.removeprefix('beam')}", metric, metric.lower(), found["score"], found["signature"])
            for data, beams in record["scores"].items()
            for beam, metrics in beams.items()
            for metric, found in metrics.items()
        ]
