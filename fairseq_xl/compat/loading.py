"""One sentence for a checkpoint that cannot be used, where fairseq prints a traceback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fairseq_xl.compat.patching import replace
from fairseq_xl.io.errors import InputError
from fairseq_xl.training.checkpoints import why_unusable

_NOT_FOUND = "Model file not found: "  # how fairseq begins to say so


def explain_unusable_checkpoints() -> None:
    """Say in one sentence what is wrong with a missing, torn, foreign or malicious checkpoint.

    Broken: ``load_checkpoint_to_cpu`` ends in half a page of traceback, whose last line for a
    malicious file advises to allow what it carries. Training hides whatever a model says about its
    checkpoint behind "please ensure that the architectures match".
    """
    from fairseq import checkpoint_utils
    from fairseq.trainer import Trainer

    def mend_load(stock: Callable[..., Any]) -> Callable[..., Any]:
        def load_checkpoint_to_cpu(path: str, *args: Any, **kwargs: Any) -> Any:
            try:
                return stock(path, *args, **kwargs)
            except Exception as error:
                # The file is looked at only now, so that loading a good one costs nothing more.
                reason = why_unusable(path)
                if reason is None:
                    raise
                raise InputError(f"the checkpoint {path} {reason}") from error

        return load_checkpoint_to_cpu

    def mend_trainer(stock: Callable[..., Any]) -> Callable[..., Any]:
        def load_checkpoint(self: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return stock(self, *args, **kwargs)
            except Exception as error:
                hidden = _input_error_behind(error)
                if hidden is None or hidden is error:
                    raise
                raise hidden from None

        return load_checkpoint

    def mend_missing(stock: Callable[..., Any]) -> Callable[..., Any]:
        def load_model_ensemble_and_task(*args: Any, **kwargs: Any) -> Any:
            try:
                return stock(*args, **kwargs)
            except OSError as error:
                if not str(error).startswith(_NOT_FOUND):
                    raise
                path = str(error).removeprefix(_NOT_FOUND)
                raise InputError(
                    f"there is no checkpoint {path}; training writes checkpoint_best.pt and "
                    "checkpoint_last.pt to its --save-dir"
                ) from error

        return load_model_ensemble_and_task

    replace(checkpoint_utils, "load_checkpoint_to_cpu", mend_load)
    replace(checkpoint_utils, "load_model_ensemble_and_task", mend_missing)
    replace(Trainer, "load_checkpoint", mend_trainer)


def _input_error_behind(error: BaseException | None) -> InputError | None:
    """The user's mistake that made this exception, if one did."""
    while error is not None:
        if isinstance(error, InputError):
            return error
        error = error.__cause__ or error.__context__
    return None
