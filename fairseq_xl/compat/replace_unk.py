"""``--replace-unk``: an unknown word of the translation becomes the source word it attends to."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from fairseq_xl.compat.patching import Stock, loaded, replace
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lexicons import read_translations

# The option's value when it is given without a file. This is a slip in fairseq, which looks for a file of this name.
_NO_FILE = "@@ "
# Set while fairseq-generate works on preprocessed data, for which it would refuse the option.
_wanted: ContextVar[str | None] = ContextVar("replace_unk", default=None)
_NO_ATTENTION = (
    "--replace-unk: this model records no attention, so nothing tells which source word an unknown word stands for; "
    "leave the option out"
)
_SOURCE_LINES = "fairseq_xl_source_lines"  # on a task: the words of the batch in translation


class Aligned(list[Any]):
    """What fairseq prints as a hypothesis's alignment, and what each of its tokens stands for.

    Args:
        printed: the alignment that fairseq made (empty unless ``--print-alignment`` asks for it).
        source: the words of the source sentence.
        positions: for each token of the hypothesis, which of them it attends to most; ``None``
            for a model without attention.
        dictionary: how source words are to be translated; others are copied.
    """

    def __init__(
        self, printed: Sequence[Any], source: Sequence[str], positions: Sequence[int] | None, dictionary: dict[str, str]
    ) -> None:
        super().__init__(printed)
        self.source = source
        self.positions = positions
        self.dictionary = dictionary


def mend_unknown_word_replacement() -> None:
    """Make ``--replace-unk`` work, on preprocessed data too, with any model that has attention.

    Broken: without a file the option looks for one named ``@@ ``. Alignments are empty unless you give
    ``--print-alignment``. They are then pairs where numbers are expected, so the first unknown word ends in an
    IndexError or TypeError. ``fairseq-generate`` refuses preprocessed data. ``fairseq-interactive`` forgets the words
    that were typed and copies ``<unk>``. Of a word's several translations it takes the last in the file; here it is the
    one with the largest weight, or the first. A file without words, and lines that are no word pair, are refused.

    Preprocessed data does not hold the spelling of source words that the dictionary lacks. There only the alignment
    dictionary's entry for ``<unk>`` can replace such a word.
    """
    from fairseq import utils
    from fairseq.data import data_utils
    from fairseq.tasks.fairseq_task import FairseqTask

    @replace(utils, "load_align_dict")
    def load_align_dict(stock: Stock, replace_unk: str | None) -> dict[str, str] | None:
        return load_dictionary(replace_unk)

    @replace(utils, "post_process_prediction")
    def post_process_prediction(
        stock: Stock,
        hypo_tokens: Tensor,
        src_str: str,
        alignment: Any,
        align_dict: dict[str, str] | None,
        tgt_dict: Any,
        remove_bpe: str | None = None,
        extra_symbols_to_ignore: set[int] | None = None,
    ) -> tuple[Tensor, str, Any]:
        ignored = extra_symbols_to_ignore or set()
        if isinstance(alignment, Aligned):
            text = replaced(hypo_tokens.tolist(), alignment, src_str.split(), tgt_dict, ignored)
            text = data_utils.post_process(text, remove_bpe)
            return tgt_dict.encode_line(text, add_if_not_exist=True), text, alignment
        if align_dict is not None and hypo_tokens.eq(tgt_dict.unk()).any():
            raise InputError(_NO_ATTENTION)
        return stock(hypo_tokens, src_str, alignment, align_dict, tgt_dict, remove_bpe, extra_symbols_to_ignore)

    @replace(FairseqTask, "build_generator")
    def build_generator(stock: Stock, self: Any, models: Any, args: Any, *rest: Any, **kwargs: Any) -> Any:
        generator = stock(self, models, args, *rest, **kwargs)
        asked = getattr(args, "replace_unk", None) or _wanted.get()
        if asked is not None and not getattr(args, "score_reference", False):
            _keep_attention(models)
            generator.generate = _aligning(generator.generate, self, load_dictionary(asked) or {})
        return generator

    importlib.import_module("fairseq_cli.generate")
    for module in loaded("fairseq_cli.generate"):
        replace(module, "main")(_generate)
    # The module is not imported: it would set up logging for a program that only uses the package.
    for module in loaded("fairseq_cli.interactive"):
        replace(module, "make_batches")(_interactive_batches)


def load_dictionary(path: str | None) -> dict[str, str] | None:
    """The translations of a lexicon. ``None`` without the option, empty without a file.

    Raises:
        InputError: as :func:`read_translations`.
    """
    if path is None:
        return None
    return {} if path in ("", _NO_FILE) else read_translations(Path(path))


def attended(attention: Tensor, source: Tensor, ignored: Sequence[int]) -> list[int]:
    """Which source word each target token attends to most.

    Args:
        attention: (S, T) weights.
        source: (S,) token numbers, padded on either side.
        ignored: token numbers that are no words (padding, end of sentence).

    Returns:
        T positions among the words of ``source``; empty if it holds none.
    """
    is_word = torch.ones_like(source, dtype=torch.bool)
    for token in ignored:
        is_word &= source.ne(token)
    if not is_word.any():
        return []
    return attention[is_word].float().argmax(dim=0).tolist()


def _keep_attention(models: Any) -> None:
    """Undo ``make_generation_fast_``, which lets the stock ``lstm`` drop its weights."""
    for model in models:
        for module in model.modules():
            if hasattr(module, "need_attn"):
                module.need_attn = True


def _aligning(generate: Callable[..., Any], task: Any, dictionary: dict[str, str]) -> Callable[..., Any]:
    """``generate`` whose hypotheses carry an :class:`Aligned`."""
    source_dictionary = task.source_dictionary
    specials = (source_dictionary.pad(), source_dictionary.eos())

    def generate_aligned(models: Any, sample: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        finalized = generate(models, sample, *args, **kwargs)
        typed = getattr(task, _SOURCE_LINES, None)
        for row, hypotheses in enumerate(finalized):
            tokens = sample["net_input"]["src_tokens"][row].cpu()
            words = [source_dictionary[t] for t in tokens.tolist() if t not in specials]
            if typed is not None and len(typed[row]) == len(words):
                words = typed[row]
            for hypothesis in hypotheses:
                attention = hypothesis.get("attention")
                positions = None
                if attention is not None and attention.numel():
                    positions = attended(attention.cpu(), tokens, specials)
                printed = hypothesis["alignment"]
                hypothesis["alignment"] = Aligned(
                    printed.tolist() if torch.is_tensor(printed) else printed, words, positions, dictionary
                )
        return finalized

    return generate_aligned


def replaced(
    tokens: Sequence[int], alignment: Aligned, spelled: Sequence[str], dictionary: Any, ignored: set[int]
) -> str:
    """The hypothesis's words, unknown ones replaced.

    Args:
        tokens: of the hypothesis.
        alignment: what they stand for.
        spelled: the source words as the corpus spells them, where it is raw text.
        dictionary: the target dictionary.
        ignored: token numbers that are not part of the text, beside the end of sentence.

    Raises:
        InputError: a word is unknown and the model has no attention.
    """
    unknown = dictionary.unk_string()
    source = list(alignment.source)
    if len(spelled) == len(source):
        source = [there if word == unknown else word for word, there in zip(source, spelled, strict=True)]
    hidden = ignored | {dictionary.eos(), dictionary.bos()}
    words = []
    for place, token in enumerate(tokens):
        if token in hidden:
            continue
        word = dictionary[token]
        if token == dictionary.unk():
            if alignment.positions is None:
                raise InputError(_NO_ATTENTION)
            if alignment.positions:  # an empty source sentence offers nothing
                copied = source[alignment.positions[place]]
                word = alignment.dictionary.get(copied, copied)
        words.append(word)
    return " ".join(words)


def _generate(stock: Stock, cfg: Any) -> Any:
    """``fairseq-generate``'s main, without its refusal of the option for preprocessed data."""
    from fairseq.dataclass.utils import convert_namespace_to_omegaconf

    if not hasattr(cfg, "generation"):  # the command line's plain options
        cfg = convert_namespace_to_omegaconf(cfg)
    asked = cfg.generation.replace_unk
    if asked is None or cfg.dataset.dataset_impl == "raw":
        return stock(cfg)
    # Without the option fairseq spells the source by its dictionary. There is no other spelling.
    cfg.generation.replace_unk = None
    before = _wanted.set(asked)
    try:
        return stock(cfg)
    finally:
        _wanted.reset(before)
        cfg.generation.replace_unk = asked


def _interactive_batches(
    stock: Stock, lines: list[str], cfg: Any, task: Any, max_positions: Any, encode_fn: Callable[[str], str]
) -> Iterator[Any]:
    """``fairseq-interactive``'s batches, and the words that were typed."""
    for batch in stock(lines, cfg, task, max_positions, encode_fn):
        if cfg.generation.replace_unk is not None:
            setattr(task, _SOURCE_LINES, [encode_fn(lines[i]).split() for i in batch.ids.tolist()])
        yield batch
