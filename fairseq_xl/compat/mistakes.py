"""Mistakes that fairseq itself notices, in sentences that say what to do."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from fairseq_xl.compat.patching import Stock, replace
from fairseq_xl.io.errors import InputError
from fairseq_xl.training import checkpoints

_AFRESH = "or train into another --save-dir"
_SIZES = re.compile(r"size mismatch for .*|.*(?:Missing|Unexpected) key.*")
_SAYINGS = (
    (r"Dataset not found: .*", r"\g<0>: name the splits, the languages and the data directory"),
    (
        r"The dataset is empty\.",
        "no sentence of the data is within the limits: raise --max-tokens, or the model's longest source and target, "
        "or preprocess more text",
    ),
    (
        r"Size of sample #(\d+) is invalid \(=(.*?)\) since max_positions=(\(.*?\)|\S+), ",
        r"sentence \1 (from 0) has \2 tokens and the limit is \3: raise --max-tokens or the model's longest source and "
        "target, or leave it out by --skip-invalid-size-inputs-valid-test",
    ),
    (r"Sentences lengths should not exceed max_tokens=(\d+)", r"--max-tokens is \1, and a sentence has more: raise it"),
    (
        r"Cannot load model parameters from checkpoint (.*?);",
        r"the checkpoint \1 is of a model of another architecture, other sizes or other dictionaries{reason}: give the "
        f"options and data that it was trained with, {_AFRESH}",
    ),
    (
        r"Error\(s\) in loading state_dict for (\w+)",
        r"the checkpoint does not fit the \1 that the options and dictionaries ask for{reason}: give those that it was "
        "trained with",
    ),
    (
        r"(Criterion|Optimizer) does not match; .*?\. (\S+) vs (\S+)",
        r"the checkpoint in --save-dir was trained with \2, and now it is \3: give the same, forget what the optimiser "
        f"knows by --reset-optimizer, {_AFRESH}",
    ),
    (
        r"Cannot resume training due to dataloader mismatch",
        "the training data has fewer batches than when the checkpoint in --save-dir was written: give the same data, "
        f"begin an epoch of the new data by --reset-dataloader, {_AFRESH}",
    ),
    (
        r"Source and target must contain the same number of examples",
        "the source and the target side of the preprocessed data have different numbers of sentences: preprocess a "
        "text and its translation, line by line",
    ),
    (r"Must specify batch size either with", "there is no size of batches: give --max-tokens or --batch-size"),
    (
        r"Could not infer language pair",
        "the data directory names no pair of languages: give --source-lang and --target-lang",
    ),
)
"""How fairseq begins to say it, and what is said instead; ``{reason}``: what the exceptions behind it tell of sizes."""


def explain(error: BaseException) -> InputError | None:
    """The user's mistake that an exception of fairseq's stands for; None where it is none of those known."""
    for pattern, sentence in _SAYINGS:
        found = re.match(pattern, str(error), re.DOTALL)
        if found is not None:
            return InputError(found.expand(sentence).replace("{reason}", _reason(error)))
    return None


def _reason(error: BaseException | None) -> str:
    while error is not None:
        sizes = _SIZES.search(str(error))
        if sizes is not None:
            return f" ({sizes[0].strip().rstrip('.')})"
        error = error.__cause__ or error.__context__
    return ""


def refuse_another_scheduler() -> None:
    """Refuse to resume with another ``--lr-scheduler``.

    Broken: fairseq compares the criterion and the optimiser with the checkpoint's and forgets the scheduler, which ends
    in a KeyError, or goes on with whatever the other one's state has for it.
    """
    from fairseq.trainer import Trainer

    @replace(Trainer, "load_checkpoint")
    def load_checkpoint(
        stock: Stock,
        self: Any,
        filename: str,
        reset_optimizer: bool = False,
        reset_lr_scheduler: bool = False,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        if not (reset_optimizer or reset_lr_scheduler) and Path(filename).is_file():
            state = checkpoints.read(filename)
            section = (state.get("cfg") or {}).get("lr_scheduler")
            before = section.get("_name") if isinstance(section, dict) else None
            now = getattr(self.cfg.lr_scheduler, "_name", None)
            if state.get("last_optimizer_state") is not None and None not in (before, now) and before != now:
                raise InputError(
                    f"the checkpoint {filename} was trained with --lr-scheduler {before}, and now it is {now}: give "
                    f"the same, begin the new one by --reset-lr-scheduler, {_AFRESH}"
                )
        return stock(self, filename, reset_optimizer, reset_lr_scheduler, *args, **kwargs)
