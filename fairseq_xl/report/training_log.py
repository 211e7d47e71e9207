"""Reading what ``fairseq-train --log-format json`` wrote: plain records, in order of updates.

A log file may hold several runs, one after the other, because fairseq appends to ``--log-file``
when training is resumed. What the earlier run logged beyond the checkpoint from which the later one
went on did not lead to the model and is left out.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_lines

# fairseq's loggers write "2024-05-06 07:08:09 | INFO | valid | " before a message on the terminal
# and nothing before it in --log-file.
_STAMP = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:,\d+)? \| [A-Z]+ \| [^|]* \| "
_STAMP_BEFORE = re.compile(rf"^{_STAMP}")
_CONFIGURATION_START = r"\{'_name': None, 'common': "
_CONFIGURATION = re.compile(_CONFIGURATION_START)
# a run that was killed in the middle of a line leaves the next run's first message behind it
_TWO_IN_ONE = re.compile(rf"(?<=.)(?={_STAMP}|{_CONFIGURATION_START}|\{{\"epoch\": )")
GPU = re.compile(r"\| rank +0: capabilities = .*; total memory = (?P<GB>[\d.]+) GB *; name = (?P<name>.*\S)")
"""What fairseq says of the first GPU at the start of a training."""
_CRITERION = re.compile(r"'criterion': \{'_name': '(?P<name>[^']+)'")


@dataclass(frozen=True)
class Record:
    """One logged line: means since the last one (``train_inner``), or of an epoch.

    Attributes:
        kind: ``train_inner``, ``train``, or the name of a validation set: ``valid``, ``valid1`` …
        epoch: counted from 1.
        progress: epochs done at this point, 2.25 a quarter into the third.
        updates: optimiser steps done at this point.
        values: every number of the line, without the prefix of its kind: ``loss``, ``accuracy`` …
    """

    kind: str
    epoch: int
    progress: float
    updates: int
    values: dict[str, float]


@dataclass
class TrainingLog:
    """The records that led to the last model of a log; ``criterion`` is None where it is not said."""

    path: Path
    records: list[Record] = field(default_factory=list)
    criterion: str | None = None

    def of(self, kind: str) -> list[Record]:
        """The records of one kind, in order of updates."""
        return [record for record in self.records if record.kind == kind]


def read_training_log(path: Path | str) -> TrainingLog:
    """The log of a training, resumed any number of times.

    A record cut short is passed over only where a run was interrupted: before the next run, or at the end of the file.

    Raises:
        InputError: no such file; no record in it; a damaged record elsewhere (with its line).
    """
    path = Path(path)
    log = TrainingLog(path)
    run_start = 0
    torn_at = None
    other_format = False
    for number, line in enumerate(read_lines(path), start=1):
        for message in _messages(line):
            if _CONFIGURATION.match(message):
                run_start, torn_at = len(log.records), None
                criterion = _CRITERION.search(message)
                log.criterion = criterion["name"] if criterion else log.criterion
                continue
            other_format = other_format or message.startswith("epoch 0")
            if not message.startswith('{"'):
                continue
            if torn_at is not None:
                raise InputError(
                    f"{path}, line {torn_at}: this training record is cut short although the same "
                    "run went on after it; the log is damaged, remove the line"
                )
            try:
                record = _record(json.loads(message))
            except (json.JSONDecodeError, RecursionError):
                torn_at = number
                continue
            except ValueError as error:
                raise InputError(
                    f"{path}, line {number}: not a record of fairseq-train ({error}); remove the line"
                ) from None
            if log.records[run_start:][-1:] == [record]:
                continue  # fairseq opens --log-file anew each epoch and writes each line again to all
            if len(log.records) == run_start:
                log.records = [old for old in log.records if old.updates < record.updates]
                run_start = len(log.records)
            log.records.append(record)
    if not log.records:
        hint = "it was not written with --log-format json" if other_format else "is it the right file?"
        raise InputError(f"{path} holds no training records: {hint}")
    return log


def _messages(line: str) -> list[str]:
    """The messages in a line without their stamps: one, or two where the first was cut short."""
    parts = (_STAMP_BEFORE.sub("", part) for part in _TWO_IN_ONE.split(line))
    return [part for part in parts if part]


def _record(values: dict[str, object]) -> Record:
    # fairseq prefixes what summarises an epoch with "train_", or with its validation set's name
    named = next((name for name in values if name.endswith("_num_updates")), None)
    kind = named.removesuffix("_num_updates") if named else "train_inner"
    numbers: dict[str, float] = {}
    for name, value in values.items():
        try:
            numbers[name.removeprefix(f"{kind}_")] = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            continue  # not every statistic is a number, and none of those that are not is plotted
    for name in ("epoch", "num_updates"):
        if name not in numbers:
            raise ValueError(f"it says no {name}")
    epoch = int(numbers.pop("epoch"))
    updates = int(numbers.pop("num_updates"))
    return Record(kind, epoch, numbers.pop("update", float(epoch)), updates, numbers)
