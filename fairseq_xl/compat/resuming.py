"""A killed training resumes from an intact checkpoint and ends with the result of an uninterrupted run.

fairseq itself restores the model, the optimiser and the place in the epoch. It seeds torch anew at every update. This
module restores what fairseq forgets.
"""

from __future__ import annotations

import inspect
import logging
import os
import re
from pathlib import Path
from typing import Any

from fairseq_xl.compat.patching import Stock, loaded, replace
from fairseq_xl.io.errors import InputError
from fairseq_xl.training import checkpoints

logger = logging.getLogger(__name__)

_PATIENCE = "fairseq_xl_patience"  # in a checkpoint's extra state
_PLATEAU_COUNTERS = ("num_bad_epochs", "cooldown_counter")


def refuse_to_restore_nothing() -> None:
    """Refuse ``--restore-file``, and ``--continue-once``, of a file that is not there.

    Broken: fairseq begins afresh, as it does where ``--save-dir`` has no ``checkpoint_last.pt`` yet. That one may be
    named, too, since scripts give it from the first start on.
    """
    from fairseq.file_io import PathManager
    from fairseq.trainer import Trainer

    @replace(Trainer, "load_checkpoint")
    def load_checkpoint(stock: Stock, self: Any, filename: str, *args: Any, **kwargs: Any) -> Any:
        own = Path(self.cfg.checkpoint.save_dir, f"checkpoint_last{self.checkpoint_suffix}.pt")
        if Path(filename).resolve() != own.resolve() and not PathManager.exists(filename):
            option = "--continue-once" if filename == self.cfg.checkpoint.continue_once else "--restore-file"
            raise InputError(
                f"{option} {filename}: there is no such file. Check the name. Without the option training goes on from "
                f"{own}, or begins where there is none"
            )
        return stock(self, filename, *args, **kwargs)


def fall_back_from_torn_checkpoints() -> None:
    """Resume from the newest intact checkpoint when ``checkpoint_last.pt`` is torn, and say so.

    Broken: fairseq reads ``checkpoint_last.pt`` only. A killed stock run, a full disk or an interrupted copy between
    machines can have left it torn. A checkpoint may also be out of reach, for example behind a link to a disk that is
    not mounted. fairseq would then begin afresh and write over what is there.
    """
    from fairseq.trainer import Trainer

    @replace(Trainer, "load_checkpoint")
    def load_checkpoint(stock: Stock, self: Any, filename: str, *args: Any, **kwargs: Any) -> Any:
        path = Path(filename)
        is_last = path.name == f"checkpoint_last{self.checkpoint_suffix}.pt"
        if os.path.lexists(path) and not path.is_file():
            what = "a folder" if path.is_dir() else "a link to nothing" if path.is_symlink() else "not a file"
            raise InputError(f"{path} is {what}: put the checkpoint there, or move this elsewhere to begin afresh")
        if is_last and path.is_file() and not checkpoints.is_intact(path):
            filename = str(newest_intact(path.parent, self.checkpoint_suffix))
            logger.warning(
                "%s is torn (its writing was interrupted): going on from %s, the newest intact checkpoint",
                path,
                filename,
            )
        return stock(self, filename, *args, **kwargs)


def newest_intact(folder: Path, suffix: str = "") -> Path:
    """The intact checkpoint in ``folder`` with the most updates. Of equals, the youngest file.

    Only names that fairseq-train gives count. A crash's dump or an average of checkpoints is not a state to resume.

    Raises:
        InputError: there is none.
    """
    names = re.compile(rf"checkpoint(\d+|_\d+_\d+|_best|\.best_.+){re.escape(suffix)}\.pt")
    readable: list[tuple[int, float, Path]] = []
    for path in folder.iterdir():
        if names.fullmatch(path.name) and checkpoints.why_file_refused(path) is None:
            age = checkpoints.updates(checkpoints.read(path))
            readable.append((age, path.stat().st_mtime, path))
    for _, _, path in sorted(readable, reverse=True):
        if checkpoints.is_intact(path):
            return path
    raise InputError(
        f"{folder}/checkpoint_last{suffix}.pt is torn and no other intact checkpoint is in that "
        "folder; remove it to start afresh, or name a good one with --restore-file"
    )


def keep_batches() -> None:
    """Cut the data into the same batches after a resume as before it.

    Broken: fairseq cuts once, seeded by the epoch in which that happens, and keeps those batches. A run resumed in
    epoch 5 cuts anew with another seed, so its batches differ from an uninterrupted run's. In mid-epoch it repeats some
    sentences and leaves out others. Data in several shards is not concerned, because fairseq cuts it anew for every
    epoch.
    """
    from fairseq.tasks.fairseq_task import FairseqTask

    @replace(FairseqTask, "get_batch_iterator")
    def get_batch_iterator(stock: Stock, self: Any, *args: Any, **kwargs: Any) -> Any:
        call = inspect.signature(stock).bind(self, *args, **kwargs)
        call.apply_defaults()
        given = call.arguments
        dataset, epoch = given["dataset"], given["epoch"]
        cut_once = (
            self.can_reuse_epoch_itr(dataset)
            and not given["disable_iterator_cache"]
            and not given["update_epoch_batch_itr"]
            and not getattr(self.cfg, "rebuild_batches", False)
        )
        if epoch == 1 or not cut_once or dataset in self.dataset_to_epoch_iter:
            return stock(*call.args, **call.kwargs)
        given["epoch"] = 1
        iterator = stock(*call.args, **call.kwargs)
        iterator.epoch = epoch
        dataset.set_epoch(epoch)
        return iterator


def keep_patience() -> None:
    """Count the validations without improvement across a resume.

    Broken: ``--patience`` counts in a function's attributes, which no checkpoint holds. A resumed run therefore stops
    later than an uninterrupted one.
    """
    from fairseq.trainer import Trainer

    def counters() -> list[Any]:
        return [module.should_stop_early for module in loaded("fairseq_cli.train")]

    @replace(Trainer, "save_checkpoint")
    def save_checkpoint(stock: Stock, self: Any, filename: str, extra_state: dict[str, Any]) -> Any:
        for counter in counters():
            if hasattr(counter, "best"):
                extra_state = {**extra_state, _PATIENCE: [counter.best, counter.num_runs]}
        return stock(self, filename, extra_state)

    @replace(Trainer, "load_checkpoint")
    def load_checkpoint(stock: Stock, self: Any, *args: Any, **kwargs: Any) -> Any:
        extra_state = stock(self, *args, **kwargs)
        if extra_state and not _resets(stock, self, *args, **kwargs) & {"reset_optimizer", "reset_meters"}:
            for counter in counters():
                if _PATIENCE in extra_state:
                    counter.best, counter.num_runs = extra_state[_PATIENCE]
        return extra_state


def _resets(stock: Stock, *args: Any, **kwargs: Any) -> set[str]:
    """Which parts of a checkpoint a call of ``Trainer.load_checkpoint`` leaves out.

    ``--finetune-from-model`` leaves out all of them, and the configuration says nothing of that.
    """
    given = inspect.signature(stock).bind(*args, **kwargs).arguments
    return {name for name, value in given.items() if name.startswith("reset_") and value}


def keep_plateau() -> None:
    """Let ``--lr-scheduler reduce_lr_on_plateau`` remember what it saw before a resume.

    Broken: the scheduler's count of bad epochs is in no checkpoint. A checkpoint written at the end of an epoch does
    not hold that epoch's validation either. The scheduler sees that validation only afterwards.
    """
    from fairseq.optim.lr_scheduler.reduce_lr_on_plateau import ReduceLROnPlateauLRSchedule
    from fairseq.trainer import Trainer

    @replace(ReduceLROnPlateauLRSchedule, "state_dict")
    def state_dict(stock: Stock, self: Any) -> dict[str, Any]:
        return {**stock(self), **{name: getattr(self.lr_scheduler, name) for name in _PLATEAU_COUNTERS}}

    @replace(ReduceLROnPlateauLRSchedule, "load_state_dict")
    def load_state_dict(stock: Stock, self: Any, state_dict: dict[str, Any]) -> None:
        stock(self, state_dict)
        for name in _PLATEAU_COUNTERS:
            if name in state_dict:
                setattr(self.lr_scheduler, name, state_dict[name])

    @replace(Trainer, "load_checkpoint")
    def load_checkpoint(stock: Stock, self: Any, *args: Any, **kwargs: Any) -> Any:
        extra_state = stock(self, *args, **kwargs)
        afresh = _resets(stock, self, *args, **kwargs) & {"reset_optimizer", "reset_lr_scheduler"}
        if not extra_state or afresh or self.cfg.checkpoint.reset_dataloader:
            return extra_state
        place = extra_state.get("train_iterator", {})
        validated = extra_state.get("val_loss")
        ended = place.get("iterations_in_epoch") == 0  # the place is the next epoch's beginning
        on_plateau = isinstance(self.lr_scheduler, ReduceLROnPlateauLRSchedule)
        if on_plateau and ended and validated is not None:
            self.lr_step(place["epoch"] - 1, validated)
        return extra_state
