"""Training word vectors with fastText on tokenised text."""

from __future__ import annotations

import ctypes
import logging
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairseq_xl.io.atomic import atomic_outputs
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import hidden_folder
from fairseq_xl.io.lines import decode_lines, refuse_pipe, utf8_name
from fairseq_xl.io.settings import check, option
from fairseq_xl.vectors.formats.fasttext import check_layout, import_fasttext, read_fasttext
from fairseq_xl.vectors.formats.text import write_text
from fairseq_xl.vectors.table import WordVectors

logger = logging.getLogger(__name__)

_CHUNK = 1 << 20
_M_PERTURB = -6
_HAND_OUT_ZEROS = 255  # glibc writes the complement of this byte


_GREATEST = 2**31 - 1
"""of fastText's own settings"""


@dataclass(frozen=True, kw_only=True)
class Training:
    """How vectors are trained: fastText's own defaults (Bojanowski et al. 2017), with 300 dimensions."""

    dim: int = option(
        "dimension of the vectors: lower it for little text, where it does as well and is faster",
        300,
        low=1,
        high=65_536,
    )
    model: str = option(
        "predict the context from the word (skipgram: better for rare words) or the word from its context (cbow: "
        "faster on much text)",
        "skipgram",
        choices=("skipgram", "cbow"),
    )
    epoch: int = option("passes over the text: raise it where the text is small", 5, low=1, high=_GREATEST)
    min_count: int = option("words seen less often are only in PREFIX.bin, by their subwords", 5, low=1, high=_GREATEST)
    seed: int = option("random seed; with --threads 1 it settles the result exactly", 0, low=0, high=_GREATEST)
    threads: int | None = option(
        "threads that train. More than one gives slightly other vectors each time",
        None,
        low=1,
        high=1024,
        shown="every processor",
    )
    lr: float = option("learning rate at the start, which falls to zero; lower it if training diverges", 0.05)
    window: int = option(
        "most words between a word and its context. A wide window makes words of one topic near, and a narrow one "
        "words of one kind",
        5,
        low=1,
        high=_GREATEST,
    )
    min_subword: int = option("characters of the shortest subwords; 2, or 1, where words are short", 3)
    max_subword: int = option("characters of the longest subwords; 0 trains without subwords", 6, low=0, high=_GREATEST)
    negatives: int = option(
        "random words against each context word. More of them help small text and take longer", 5, low=1, high=_GREATEST
    )
    buckets: int = option(
        "hash buckets for subwords. PREFIX.bin and the memory take 4 x DIM x BUCKETS bytes, 2.4 GB by default. Lower "
        "it for a small vocabulary: some thousand words need no more than 100000",
        2_000_000,
        low=1,
        high=_GREATEST,
    )

    def __post_init__(self) -> None:
        check(self)
        if self.lr <= 0:
            raise InputError(f"--lr is {self.lr}: give a number above 0")
        if self.max_subword and not 1 <= self.min_subword <= self.max_subword:
            raise InputError(
                f"subwords of {self.min_subword} to {self.max_subword} characters do not exist: the least length "
                "must be at least 1 and not above the greatest"
            )


def train_vectors(
    text_files: Sequence[str | Path], output: str | Path, training: Training | None = None, progress: bool = True
) -> WordVectors:
    """Train fastText vectors and write ``OUTPUT.bin`` (all words, by subwords) and ``OUTPUT.vec``.

    With one thread the same text, settings and seed give the same vectors. Several threads race for the weights, by
    fastText's design, and give slightly other vectors each time.

    fastText gives random start values to as many tenths of its rows (the words', then the subwords') as there are
    threads. Here the others start at zero. There are always enough buckets for every word to start at random.

    Args:
        text_files: plain UTF-8 text, one sentence per line, tokens separated by spaces.
        output: the two files' name without suffix. Both appear complete or not at all.
        training: the settings.
        progress: let fastText report on stderr.

    Returns:
        The vectors of the words in the vocabulary, as in ``OUTPUT.vec``.

    Raises:
        InputError: The text is unreadable, empty or not UTF-8. The output has no name. No word is seen ``min_count``
            times. Training diverges.
    """
    training = training or Training()
    texts = [Path(file) for file in text_files]
    if not texts:
        raise InputError("there is no text to train word vectors on")
    for text in texts:
        _check_text(text)

    # The bindings beneath the package's own functions, which accept no seed.
    fasttext = import_fasttext("training word vectors").FastText.fasttext
    settings = _settings(fasttext, training, texts)
    # 2 redraws a line ten times a second, 1 reports once at the end.
    settings.verbose = (2 if sys.stderr.isatty() else 1) if progress else 0

    output = Path(output)
    binary, text_format = _outputs(output)
    with atomic_outputs(binary, text_format) as (new_binary, new_text):
        with _one_file(texts, output) as corpus:
            settings.input = utf8_name(corpus)
            _save(_trained(fasttext, settings, texts, training), new_binary, binary)
        # The trained model is gone by now: two of them would double the memory.
        words, matrix = read_fasttext(new_binary, None, training.dim, progress)
        with open(new_text, "wb") as file:
            write_text(text_format, file, words, matrix, progress)
    return WordVectors(words, matrix)


def _outputs(output: Path) -> tuple[Path, Path]:
    """The two files that a prefix names."""
    if output.name in ("", "..") or (output.exists() and not output.is_file() and not output.is_dir()):
        raise InputError(f"{output} cannot begin the names of two files: give a prefix, such as vectors/en")
    utf8_name(output)
    return output.with_name(f"{output.name}.bin"), output.with_name(f"{output.name}.vec")


def _trained(fasttext: Any, settings: Any, texts: list[Path], training: Training) -> Any:
    """fastText's model of the text that its settings name."""
    model = fasttext.fasttext()
    try:
        with _zeroed_memory():
            fasttext.train(model, settings)
    except (ValueError, RuntimeError) as error:
        raise _explained(error, texts, training) from error
    return model


def _save(model: Any, path: Path, final: Path) -> None:
    """Write a model to ``path``, which will take the place of ``final``."""
    try:
        model.saveModel(utf8_name(path))
        check_layout(path)  # fastText does not notice a disk that is full
    except (ValueError, RuntimeError) as error:
        reason = "it came out incomplete, as on a full disk" if isinstance(error, InputError) else error
        raise InputError(f"cannot write {final}: {reason}; what was there before is whole") from error


def _settings(fasttext: Any, training: Training, texts: list[Path]) -> Any:
    """fastText's own form of the settings."""
    settings = fasttext.args()
    settings.model = getattr(fasttext.model_name, training.model)
    settings.dim, settings.epoch, settings.minCount = training.dim, training.epoch, training.min_count
    settings.lr, settings.ws, settings.neg = training.lr, training.window, training.negatives
    settings.seed, settings.thread = training.seed, training.threads or _processors()
    subwords = training.max_subword > 0
    settings.minn, settings.maxn = (training.min_subword, training.max_subword) if subwords else (0, 0)
    settings.loss = fasttext.loss_name.ns
    buckets = training.buckets if subwords else 0
    settings.bucket = _enough_buckets(buckets, texts, training.min_count, settings.thread)
    # fastText takes words with this prefix for labels and drops them; no token holds a zero byte.
    settings.label = "\0"
    return settings


@contextmanager
def _zeroed_memory() -> Iterator[None]:
    """While the block runs, memory newly allocated in this process is zero. A warning tells if that is impossible.

    fastText 0.9.2 and later fills only as many tenths of its weights with random start values as it has threads. Every
    Python package of it does. The rest is whatever the memory held before. A model of the default size gets fresh pages
    of zeros from the system, but a small one gets scraps of freed memory. These cause other vectors on each run,
    weights of 1e38, or NaN. glibc can be told to hand out zeros instead.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None or not mallopt(_M_PERTURB, _HAND_OUT_ZEROS):
        logger.warning(
            "this system's C library cannot hand out zeroed memory, which small fastText models "
            "need: two runs may give different vectors even with one thread"
        )
        yield
        return
    try:
        yield
    finally:
        mallopt(_M_PERTURB, 0)


def _enough_buckets(buckets: int, texts: list[Path], min_count: int, threads: int) -> int:
    """As many buckets that the words' rows are among those that get random start values."""
    tenths = min(threads, 10)
    most_words = 1 + sum(text.stat().st_size // 2 + 1 for text in texts) // min_count
    if (most_words + buckets) * tenths // 10 > most_words:
        return buckets
    counts: Counter[bytes] = Counter()
    for text in texts:
        with open(text, "rb") as file:
            for line in file:
                counts.update(line.split())
    words = 1 + sum(count >= min_count for count in counts.values())  # and the end of sentence
    return max(buckets, words * 10 // tenths - words + 10)


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _check_text(path: Path) -> None:
    """Refuse what is not text: fastText trains on whatever bytes it is given."""
    if path.is_dir():
        raise InputError(f"{path} is a directory, not a text file")
    if not path.exists():
        raise InputError(f"there is no text file at {path}")
    refuse_pipe(path)
    with path.open("rb") as file:
        words = sum(bool(line.strip()) for line in decode_lines(file, path))
    if not words:
        raise InputError(f"{path} is empty: there is no text to train word vectors on")


@contextmanager
def _one_file(texts: list[Path], output: Path) -> Iterator[Path]:
    """fastText reads one file: the only one given, or one beside ``output`` while the block runs."""
    if len(texts) == 1:
        yield texts[0]
        return
    with hidden_folder(output, output) as folder:
        joined = folder / "joined.txt"
        with open(joined, "wb") as target:
            for text in texts:
                chunk = b"\n"
                with open(text, "rb") as source:
                    while data := source.read(_CHUNK):
                        target.write(data)
                        chunk = data
                if not chunk.endswith(b"\n"):
                    target.write(b"\n")  # or its last word would join the next file's first
        yield joined


def _explained(error: Exception, texts: list[Path], training: Training) -> InputError:
    message = str(error)
    names = ", ".join(map(str, texts))
    if "Empty vocabulary" in message:
        return InputError(f"no word in {names} occurs {training.min_count} times: lower the least count")
    if "NaN" in message:
        return InputError(f"training on {names} diverged: lower the learning rate, now {training.lr}")
    return InputError(f"fastText could not train on {names}: {message}")
