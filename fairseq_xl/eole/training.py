"""Training by eole's trainer, of a model that predicts vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from eole.config.config import Config
from eole.config.run import TrainConfig
from eole.constants import CorpusTask
from eole.inputters.dynamic_iterator import build_dynamic_dataset_iter
from eole.models.model_saver import TrainingModelSaver
from eole.train_single import TrainingInitializer, ValidationConfigurer, configure_process
from eole.trainer import Trainer, build_trainer
from eole.utils.logging import init_logger
from eole.utils.misc import configure_cuda_backends
from eole.utils.optimizers import Optimizer
from pydantic import ValidationError
from torch import Tensor

from fairseq_xl.eole.compute import VectorLossCompute
from fairseq_xl.eole.model import target_counts, vector_model
from fairseq_xl.eole.settings import FILE, Continuous, read_config
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import count_lines

Made = TypeVar("Made", bound=Config)


class VectorModelSaver(TrainingModelSaver):
    """eole's folder of a model, with ``continuous.json``."""

    def _save_weights(self, model_state_dict: dict[str, Tensor]) -> None:
        super()._save_weights(self.model.stored(model_state_dict))

    def _save_config(self) -> None:
        folder = Path(self.model_path) / self.step_dir
        self.model.settings.write(folder / FILE, self.model.generator.targets.dim)
        self._make_symlink(FILE)
        super()._save_config()


def train(path: Path) -> None:
    """Train what a configuration file describes: eole's own keys and a section ``continuous``.

    Raises:
        InputError: a file, an option or data that cannot be used.
    """
    given, section = read_config(path)
    settings = Continuous.parse(section)
    config = parsed(TrainConfig, given, path)
    config._config_file = str(path)
    check_data(config)
    trainer_of(config, settings)


def parsed(kind: type[Made], given: dict[str, Any], path: Path | None = None) -> Made:
    """eole's configuration of some keys and values.

    Raises:
        InputError: a key that eole does not have, a value that it does not take.
    """
    try:
        return kind(**given)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        where = "" if path is None else f"{path}: "
        raise InputError(f"{where}{f'{place}: ' if place else ''}{' '.join(first['msg'].split())}") from None


def check_data(config: TrainConfig) -> None:
    """Refuse what eole would cut short, or fail on late.

    Raises:
        InputError: texts that are missing, empty or of unequal lengths; several processes.
    """
    if config.training.world_size > 1 or len(config.training.gpu_ranks) > 1:
        raise InputError("fairseq-xl eole trains in one process: set training.world_size to 1 and one gpu_ranks")
    if not config.data:
        raise InputError("the configuration names no data: give data.corpus_1.path_src and path_tgt")
    for name, corpus in config.data.items():
        if not corpus.path_src or not corpus.path_tgt:
            raise InputError(f"data.{name} needs path_src and path_tgt")
        if corpus.path_src.startswith("hf://"):
            continue
        lines = [count_lines(path) for path in (corpus.path_src, corpus.path_tgt)]
        if lines[0] != lines[1] or not lines[0]:
            raise InputError(
                f"data.{name}: {corpus.path_src} has {lines[0]} lines and {corpus.path_tgt} has {lines[1]}: give two "
                "texts of which line n is a translation of line n"
            )
    for vocabulary in (config.src_vocab, None if config.share_vocab else config.tgt_vocab):
        if vocabulary is not None and not (Path(vocabulary).is_file() and count_lines(vocabulary)):
            raise InputError(f"there is no vocabulary at {vocabulary}: give lines of a word and its count")
    if config.training.train_from and not Path(config.training.train_from).is_dir():
        raise InputError(f"training.train_from: there is no model folder at {config.training.train_from}")


def trainer_of(config: TrainConfig, settings: Continuous) -> Trainer:
    """Train, and return the trainer with what it made."""
    counts = target_counts(Path(config.src_vocab if config.share_vocab else config.tgt_vocab))
    init_logger(config.log_file)
    device = 0 if config.training.gpu_ranks else -1
    configure_process(config, device)
    context = TrainingInitializer(config).initialize()
    config = context.config
    configure_cuda_backends()
    ValidationConfigurer.configure_validation_transforms(config)
    model = vector_model(config.model, settings, counts).for_training(
        config.model, context.vocabs, config.training, metadata=context.metadata, device_id=device
    )
    optim = Optimizer.from_config(model, config, metadata=context.metadata)
    saver = VectorModelSaver(
        config.training.model_path,
        model,
        config,
        context.vocabs,
        optim,
        config.training.keep_checkpoint,
        config.training.save_format,
        device,
        context.transforms,
    )
    trainer = build_trainer(config, device, model, context.vocabs, optim, model_saver=saver)
    loss = VectorLossCompute.from_config(config, model, context.vocabs)
    trainer.train_loss = trainer.batch_processor.train_loss = loss
    trainer.valid_loss = VectorLossCompute.from_config(config, model, context.vocabs, train=False)
    sets = [
        build_dynamic_dataset_iter(config, context.transforms, context.vocabs, task=task, device_id=device)
        for task in (CorpusTask.TRAIN, CorpusTask.VALID)
    ]
    try:
        trainer.train(
            sets[0],
            0 if config.training.single_pass else config.training.train_steps,
            save_checkpoint_steps=config.training.save_checkpoint_steps,
            valid_iter=sets[1],
            valid_steps=config.training.valid_steps,
        )
    finally:
        trainer.report_manager.close()
    return trainer
