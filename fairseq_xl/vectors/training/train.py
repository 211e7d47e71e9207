"""Training word vectors with fastText on tokenised text."""

from __future__ import annotations

import codecs
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from fairseq_xl.io.atomic import atomic_outputs
from fairseq_xl.io.errors import InputError
from fairseq_xl.vectors.formats.fasttext import import_fasttext, read_fasttext
from fairseq_xl.vectors.formats.text import write_text
from fairseq_xl.vectors.table import WordVectors
from fairseq_xl.vectors.training.zeroed_memory import zeroed_memory

_CHUNK = 1 << 20


def train_vectors(
    text_files: Sequence[str | Path],
    output: str | Path,
    dim: int = 300,
    model: Literal["skipgram", "cbow"] = "skipgram",
    epoch: int = 5,
    min_count: int = 5,
    seed: int = 0,
    threads: int | None = None,
    *,
    lr: float = 0.05,
    window: int = 5,
    min_subword: int = 3,
    max_subword: int = 6,
    negatives: int = 5,
    buckets: int = 2_000_000,
    progress: bool = True,
) -> WordVectors:
    """Train fastText vectors; write ``OUTPUT.bin`` (all words, by subwords) and ``OUTPUT.vec``.

    The defaults are fastText's (Bojanowski et al. 2017), with the 300 dimensions of Kumar and
    Tsvetkov 2019. With ``threads=1`` the same text, settings and seed give the same vectors;
    several threads race for the weights, as fastText is built to, and give slightly other ones
    each time. ``threads=None`` takes every processor.

    fastText gives random start values to as many tenths of its rows (the words', then the
    subwords') as there are threads. Here the others start at zero (see :mod:`.zeroed_memory`), and
    there are always enough buckets that every word starts at random.

    Args:
        text_files: plain UTF-8 text, one sentence per line, tokens separated by spaces.
        output: the two files' name without suffix; both appear complete or not at all.
        min_count: words seen less often get no row in ``.vec``, only their subwords' in ``.bin``.
        lr: the learning rate at the start; it falls to zero linearly.
        window: the most words between a word and its context.
        min_subword, max_subword: lengths of character n-grams; ``max_subword=0`` for none.
        negatives: random words per context word.
        buckets: at least this large a hash table for n-grams; the model takes about ``4 * dim * buckets`` bytes of
            memory and disk (2.4 GB by default), so lower it for small vocabularies.
        progress: let fastText report on stderr.

    Returns:
        The vectors of the words in the vocabulary, as in ``OUTPUT.vec``.

    Raises:
        InputError: unreadable, empty or non-UTF-8 text; no word seen ``min_count`` times; a
            setting out of range; training that diverges.
    """
    if isinstance(text_files, (str, Path)):
        raise TypeError("text_files must be a sequence of files, not one")
    if model not in ("skipgram", "cbow"):
        raise InputError(f"the model of word vectors is skipgram or cbow, not {model!r}")
    at_least_one = {
        "dimension": dim,
        "number of epochs": epoch,
        "least count": min_count,
        "window": window,
        "number of negatives": negatives,
        "number of buckets": buckets,
        "number of threads": 1 if threads is None else threads,
    }
    for name, value in at_least_one.items():
        if value < 1:
            raise InputError(f"the {name} of word vectors must be at least 1, not {value}")
    if lr <= 0:
        raise InputError(f"the learning rate of word vectors must be above 0, not {lr}")
    if max_subword and not 1 <= min_subword <= max_subword:
        raise InputError(
            f"subwords of {min_subword} to {max_subword} characters do not exist: the least length "
            "must be at least 1 and not above the greatest"
        )
    texts = [Path(file) for file in text_files]
    if not texts:
        raise InputError("there is no text to train word vectors on")
    for text in texts:
        _check_text(text)

    # The bindings beneath the package's own functions, which accept no seed.
    fasttext = import_fasttext("training word vectors").FastText.fasttext
    settings = fasttext.args()
    settings.model = getattr(fasttext.model_name, model)
    settings.dim, settings.epoch, settings.minCount = dim, epoch, min_count
    settings.lr, settings.ws, settings.neg, settings.seed = lr, window, negatives, seed
    settings.minn, settings.maxn = (min_subword, max_subword) if max_subword else (0, 0)
    settings.loss = fasttext.loss_name.ns
    settings.thread = _processors() if threads is None else threads
    settings.bucket = _enough_buckets(buckets if max_subword else 0, texts, min_count, settings.thread)
    # fastText takes words with this prefix for labels and drops them; no token holds a zero byte.
    settings.label = "\0"
    # 2 redraws a line ten times a second, 1 reports once at the end.
    settings.verbose = (2 if sys.stderr.isatty() else 1) if progress else 0

    output = Path(output)
    binary, text_format = (output.with_name(output.name + suffix) for suffix in (".bin", ".vec"))
    with atomic_outputs(binary, text_format) as (new_binary, new_text):
        try:
            new_binary.touch()  # rather than after hours of training
        except OSError as error:
            raise InputError(f"cannot write {binary}: {error.strerror}") from error
        with _one_file(texts, new_binary.with_suffix(".txt")) as corpus:
            settings.input = str(corpus)
            trained = fasttext.fasttext()
            try:
                with zeroed_memory():
                    fasttext.train(trained, settings)
            except (ValueError, RuntimeError) as error:
                raise _explained(error, texts, min_count, lr) from error
        try:
            trained.saveModel(str(new_binary))
        except (ValueError, RuntimeError) as error:
            raise InputError(f"cannot write {binary}: {error}") from error
        del trained  # the model is read back; two of them would double the memory
        words, matrix = read_fasttext(new_binary, None, dim, progress)
        with open(new_text, "wb") as file:
            write_text(text_format, file, words, matrix, progress)
    return WordVectors(words, matrix)


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
    """fastText trains on whatever bytes it is given: refuse here what is not text."""
    if path.is_dir():
        raise InputError(f"{path} is a directory, not a text file")
    if not path.exists():
        raise InputError(f"there is no text file at {path}")
    decoder = codecs.getincrementaldecoder("utf-8")()
    line, empty = 1, True
    with open(path, "rb") as file:
        while True:
            chunk = file.read(_CHUNK)
            try:
                text = decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                line += error.object.count(b"\n", 0, error.start)
                raise InputError(f"{path}, line {line} is not valid UTF-8: unpack or convert the file first") from error
            if not chunk:
                break
            line += text.count("\n")
            empty = empty and not text.strip()
    if empty:
        raise InputError(f"{path} is empty: there is no text to train word vectors on")


@contextmanager
def _one_file(texts: list[Path], joined: Path) -> Iterator[Path]:
    """fastText reads one file: the only one given, or ``joined`` while the block runs."""
    if len(texts) == 1:
        yield texts[0]
        return
    try:
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
    finally:
        joined.unlink(missing_ok=True)


def _explained(error: Exception, texts: list[Path], min_count: int, lr: float) -> InputError:
    message = str(error)
    names = ", ".join(map(str, texts))
    if "Empty vocabulary" in message:
        return InputError(f"no word in {names} occurs {min_count} times: lower the least count")
    if "NaN" in message:
        return InputError(f"training on {names} diverged: lower the learning rate, now {lr}")
    return InputError(f"fastText could not train on {names}: {message}")
