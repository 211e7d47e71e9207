"""Sentences that say what to do about mistakes that fairseq itself notices."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from fairseq_xl.compat.patching import Stock, loaded, replace
from fairseq_xl.io.errors import InputError, causes
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
        r"sentence \1 (from 0) has \2 tokens and the limit is \3. Raise --max-tokens or the model's longest source and "
        "target, or leave the sentence out by --skip-invalid-size-inputs-valid-test",
    ),
    (r"Sentences lengths should not exceed max_tokens=(\d+)", r"--max-tokens is \1, and a sentence has more: raise it"),
    (
        r"Cannot load model parameters from checkpoint (.*?);",
        r"the model in the checkpoint \1 has another architecture, other sizes or other dictionaries{reason}. Give the "
        f"options and data that it was trained with, {_AFRESH}",
    ),
    (
        r"Error\(s\) in loading state_dict for (\w+)",
        r"the checkpoint does not fit the \1 that the options and dictionaries ask for{reason}: give those that it was "
        "trained with",
    ),
    (
        r"(Criterion|Optimizer) does not match; .*?\. (\S+) vs (\S+)",
        r"the checkpoint was trained with \2, and now it is \3: give the same, forget what the optimiser "
        f"knows by --reset-optimizer, {_AFRESH}",
    ),
    (
        r"Cannot resume training due to dataloader mismatch",
        "the training data has fewer batches than when the checkpoint in --save-dir was written. Give the same data, "
        f"begin an epoch of the new data by --reset-dataloader, {_AFRESH}",
    ),
    (
        r"Source and target must contain the same number of examples",
        "the source and the target side of the preprocessed data have different numbers of sentences: preprocess a "
        "text and its translation, line by line",
    ),
    (
        r"Torch not compiled with CUDA enabled|'NoneType' object has no attribute 'xla_device'",
        "torch finds no GPU here: leave out --fp16 or --bf16, or give --amp or --memory-efficient-fp16, which a "
        "processor has, too",
    ),
    (r"Must specify batch size either with", "there is no size of batches: give --max-tokens or --batch-size"),
    (
        r"Could not infer language pair",
        "the data directory names no pair of languages: give --source-lang and --target-lang",
    ),
)
"""The beginning of what fairseq says -> what is said instead.

``{reason}`` stands for what the exceptions behind it tell about sizes.
"""


def explain(error: BaseException) -> InputError | None:
    """The user's mistake that an exception of fairseq's stands for. None if it is not a known one."""
    for pattern, sentence in _SAYINGS:
        found = re.match(pattern, str(error), re.DOTALL)
        if found is not None:
            said = found.expand(sentence).replace("{reason}", _reason(error))
            return InputError(re.sub(r"np\.int64\((\d+)\)", r"\1", said))
    return None


def _reason(error: BaseException) -> str:
    for each in causes(error):
        if sizes := _SIZES.search(str(each)):
            return f" ({sizes[0].strip().rstrip('.')})"
    return ""


def name_what_validation_measures() -> None:
    """Name the measures there are where ``--best-checkpoint-metric`` is none of them.

    Broken: fairseq ends in a KeyError after the first epoch.
    """
    for module in loaded("fairseq_cli.train"):

        @replace(module, "get_valid_stats")
        def get_valid_stats(
            stock: Stock, cfg: Any, trainer: Any, stats: dict[str, Any], *args: Any, **kwargs: Any
        ) -> dict[str, Any]:
            metric = cfg.checkpoint.best_checkpoint_metric
            if metric not in stats:
                measured = ", ".join(sorted(stats))
                raise InputError(
                    f"--best-checkpoint-metric {metric}: validation measures {measured}; choose one of these"
                )
            return stock(cfg, trainer, stats, *args, **kwargs)


def refuse_another_scheduler() -> None:
    """Refuse to resume with another ``--lr-scheduler``.

    Broken: fairseq compares the criterion and the optimiser with the checkpoint's, but not the scheduler. The new
    scheduler ends in a KeyError, or it continues with whatever the other scheduler's state has for it.
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
