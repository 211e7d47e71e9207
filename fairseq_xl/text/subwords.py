"""Subword vocabularies: SentencePiece on tokenised text, and the way back to tokens.

Each token becomes one or more pieces, of which the first begins with ``▁`` (U+2581), so that no model is
needed to join them again. The characters stay as they are, without Unicode normalisation, since tokens went through
Moses before. Decoding returns the text that was encoded, except for two things. White space becomes single spaces, and
a ``▁`` of the text itself becomes a space.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

from fairseq_xl.io.atomic import atomic_outputs
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import count_lines, read_lines
from fairseq_xl.io.progress import progress_bar

KINDS = ("bpe", "unigram")
MARK = "▁"
SUBWORDS = ("subword_nmt", "sentencepiece")
"""How pieces of words are marked, by the names of fairseq's ``--post-process``."""
TRAIN_ONE = "train one with fairseq-xl data train-subwords"
_LONGEST = 1 << 20  # bytes of a line; SentencePiece's own limit passes over lines of more than 4192


def train_subwords(sources: Iterable[Path | str], model: Path | str, size: int, kind: str = "bpe") -> int:
    """Learn ``size`` pieces, one of them unknown, from tokenised files and write a SentencePiece model.

    Every character of the text becomes a piece, so that nothing in it is unknown. The same text and settings
    give the same file. ``kind`` is ``bpe`` (merges of frequent pairs, Sennrich et al. 2016) or ``unigram`` (a
    language model over pieces, Kudo 2018; it cuts ``▁,`` in two, so that tokens become more pieces).

    Returns the number of lines. Raises :class:`InputError` for text that cannot be read or is empty. It also does so
    for a size that is smaller than the text's alphabet or larger than its number of possible pieces.
    """
    if kind not in KINDS:
        raise InputError(f"subwords are of the kind {' or '.join(KINDS)}, not {kind!r}")
    text, written = _Text([Path(source) for source in sources]), io.BytesIO()
    try:
        SentencePieceTrainer.train(
            sentence_iterator=iter(text),
            model_writer=written,
            vocab_size=size,
            model_type=kind,
            character_coverage=1.0,
            normalization_rule_name="identity",
            max_sentence_length=_LONGEST,
            bos_id=-1,
            eos_id=-1,
            minloglevel=2,
        )
    except RuntimeError as error:
        raise text.fault or _explained(str(error), text, size) from error
    with atomic_outputs(Path(model)) as (temporary,):
        temporary.write_bytes(written.getvalue())
    return text.lines


@cache
def processor(model: str) -> SentencePieceProcessor:
    """The SentencePiece model of a file."""
    if not Path(model).is_file():
        raise InputError(f"there is no subword model {model}: {TRAIN_ONE}")
    content = Path(model).read_bytes()
    try:
        if content:  # SentencePiece would take an empty file for a model without pieces
            return SentencePieceProcessor(model_proto=content)
    except RuntimeError:
        pass
    raise InputError(f"{model} is not a SentencePiece model: {TRAIN_ONE}")


def encode(line: str, model: str) -> str:
    """The pieces of a sentence with single spaces between them.

    A character that the model has never seen stays as it is, in a piece with its unseen neighbours.
    """
    return " ".join(processor(model).encode(" ".join(line.split()), out_type=str))


def decode(line: str) -> str:
    """The tokens that pieces separated by spaces make."""
    return " ".join("".join(line.split()).replace(MARK, " ").split())


def whole_words(pieces: Sequence[str], subwords: str | None) -> tuple[list[str], list[int]]:
    """The words that pieces make, and for each piece which of them it belongs to."""
    words: list[str] = []
    belongs: list[int] = []
    joined = False  # to the piece before
    for piece in pieces:
        if subwords == "sentencepiece":
            joined, text = not piece.startswith(MARK), piece.removeprefix(MARK)
        else:
            text = piece.removesuffix("@@") if subwords == "subword_nmt" else piece
        if joined and words:
            words[-1] += text
        else:
            words.append(text)
        belongs.append(len(words) - 1)
        joined = subwords == "subword_nmt" and piece.endswith("@@")
    return words, belongs


class _Text:
    """The lines of files that hold any tokens, and what went wrong with them.

    SentencePiece reports an exception of its reader as one of its own, without its type.
    """

    def __init__(self, sources: list[Path]) -> None:
        self.names = ", ".join(map(str, sources))
        self.lines = 0
        self.fault: InputError | None = None
        self._sources = sources
        self._total = sum(map(count_lines, sources))

    def __iter__(self) -> Iterator[str]:
        with progress_bar("subwords", True, self._total, " lines") as bar:
            try:
                for source in self._sources:
                    for line in read_lines(source):
                        bar.update()
                        if tokens := line.split():
                            self.lines += 1
                            yield " ".join(tokens)
            except InputError as error:
                self.fault = error
                raise


def _explained(message: str, text: _Text, size: int) -> InputError:
    if not text.lines:
        return InputError(f"no subwords can be learnt: {text.names} holds no tokens")
    if found := re.search(r"value <= (\d+)", message):
        return InputError(f"{text.names} yields at most {found[1]} subwords, not {size}: ask for fewer")
    if found := re.search(r"required_chars\. \d+ vs (\d+)", message):
        return InputError(f"{size} subwords are fewer than the {found[1]} characters of {text.names}: ask for more")
    return InputError(f"SentencePiece could not learn {size} subwords from {text.names}: {message}")
