"""``--task continuous_translation``: fairseq's translation, with a choice of how nearest words are found.

No ``from __future__ import annotations`` here: fairseq reads the options' types to build its parser.
"""

from dataclasses import dataclass
from typing import Any, Optional

from fairseq.dataclass import ChoiceEnum
from fairseq.tasks import register_task
from fairseq.tasks.translation import TranslationConfig, TranslationTask

from fairseq_xl.continuous.nearest.generator import TopWordsGenerator
from fairseq_xl.continuous.nearest.index import WordIndex
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import option
from fairseq_xl.vectors.faiss_index import KINDS


@dataclass
class ContinuousTranslationConfig(TranslationConfig):
    nearest: ChoiceEnum(["dense", "top", *KINDS]) = option(  # type: ignore[valid-type]
        "how to find the words near a prediction. Choose dense to score all words: it works with every search option. "
        "Choose top for large vocabularies: it gives the same translations in bounded memory. Choose flat, hnsw or ivf "
        "to ask a faiss index. The last two are approximate and suit tables of a million words and more",
        "dense",
    )
    nearest_effort: float = option(
        "how much hnsw and ivf search: above 1 finds more of the nearest words, below is faster", 1.0
    )
    nearest_index: Optional[str] = option(  # noqa: UP045
        "folder where built indices are kept for the next run; set it for large tables, whose index takes minutes",
        None,
    )


@register_task("continuous_translation", dataclass=ContinuousTranslationConfig)
class ContinuousTranslationTask(TranslationTask):
    """As ``translation``, but its generator may look at the nearest words alone."""

    def build_generator(
        self,
        models: list[Any],
        args: Any,
        seq_gen_cls: Any = None,
        extra_gen_cls_kwargs: dict[str, Any] | None = None,
        **others: Any,
    ) -> Any:
        """Raises: InputError: an option that needs every word's score with ``--nearest`` other than dense, or one of an
        approximate index without it."""
        nearest = str(self.cfg.nearest)
        if self.cfg.nearest_effort != 1 and nearest not in ("hnsw", "ivf"):
            raise InputError("--nearest-effort is how much hnsw and ivf search: give one of them to --nearest, too")
        if nearest == "dense" or getattr(args, "score_reference", False):
            return super().build_generator(models, args, seq_gen_cls, extra_gen_cls_kwargs, **others)
        if getattr(args, "print_alignment", False):
            raise InputError("--print-alignment needs --nearest dense")
        extra = dict(extra_gen_cls_kwargs or {})
        decoder = models[0].decoder
        targets = getattr(decoder, "targets", None)
        # fairseq builds the generator of --eval-bleu before it loads a checkpoint: an index of its empty table finds
        # nothing, and the search is then exact.
        if nearest != "top" and targets is not None and targets.filled:
            if decoder.scorer.word_bonus(decoder.targets) is not None:
                raise InputError(
                    f"--nearest {nearest} finds words by their vectors alone: set decode_prior_weight to 0, and "
                    "decode a model that has --word-bias with --nearest top"
                )
            extra["index"] = WordIndex(
                decoder.targets,
                nearest,
                self.target_dictionary.nspecial,
                decoder.scorer.penalty(decoder.targets),
                self.cfg.nearest_index,
                self.cfg.nearest_effort,
            )
        return super().build_generator(models, args, TopWordsGenerator, extra, **others)
