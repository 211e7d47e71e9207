"""Translation by eole's search, with a model that predicts vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from eole.config.run import PredictConfig
from eole.inference_engine import InferenceEnginePY
from eole.predict import GNMTGlobalScorer, Translator
from eole.transforms import TransformPipe, get_transforms_cls, make_transforms

from fairseq_xl.eole.model import vector_model
from fairseq_xl.eole.settings import Continuous, saved
from fairseq_xl.eole.training import parsed
from fairseq_xl.io.atomic import atomic_outputs
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import count_lines


class VectorEngine(InferenceEnginePY):
    """eole's engine, whose predictor has our model.

    Args:
        config: eole's.
        settings: ours.
        dim: of the model's table.
    """

    def __init__(self, config: PredictConfig, settings: Continuous, dim: int):
        self.settings, self.dim = settings, dim
        super().__init__(config)

    def _initialize_single_process(self) -> None:
        config = self.config
        self.device_id = config.gpu_ranks[0] if config.gpu_ranks else -1
        kind = vector_model(config.model, self.settings, dim=self.dim)
        model, self.vocabs, model_config = kind.for_inference(config, self.device_id)
        config.update(model=model_config)
        self.predictor = Translator(
            model,
            self.vocabs,
            config,
            model_config,
            device_id=self.device_id,
            global_scorer=GNMTGlobalScorer.from_config(config),
            logger=self.logger,
        )
        self.transforms_cls = get_transforms_cls(config._all_transform)
        self.transforms = make_transforms(config, self.transforms_cls, self.vocabs)
        self.transform_pipe = TransformPipe.build_from(self.transforms.values())
        self._thread_pool = self._make_thread_pool()


def engine_of(model: Path, src: Path, options: dict[str, Any], decoding: dict[str, Any]) -> VectorEngine:
    """An engine for a model's folder.

    Args:
        model: folder that training wrote, or a step in it.
        src: text to translate, as the training text was.
        options: eole's, as ``beam_size``.
        decoding: ours, of section ``continuous``, that differ from those of training.

    Raises:
        InputError: no such model or text, an option that cannot be used.
    """
    settings, dim = saved(model)
    settings = settings.decoding(decoding)
    config = parsed(PredictConfig, {**options, "model_path": [str(model.absolute())], "src": str(src)})
    if config.world_size > 1 or config.engine != "eole":
        raise InputError("fairseq-xl eole predicts in one process with engine eole: leave world_size and engine out")
    return VectorEngine(config, settings, dim)


def predict(model: Path, src: Path, output: Path, options: dict[str, Any], decoding: dict[str, Any]) -> None:
    """Translate a text, line by line; the arguments are those of :func:`engine_of`.

    Raises:
        InputError: see there; a text without lines.
    """
    if not count_lines(src):
        raise InputError(f"{src} is empty: give lines to translate")
    engine = engine_of(model, src, options, decoding)
    with atomic_outputs(output) as (hidden,):
        engine.config.output = str(hidden)
        engine.infer_file()
    engine.terminate()
