"""Moses tokenisation and truecasing, and the way back to plain text, over whole files.

The package sacremoses does the work. This module streams files through it in bounded memory, over several processes
where a file is long enough to pay for them. HTML escaping is off unless asked for. The vectors, the dictionary and
sacreBLEU's references all hold ``'`` and ``&``, never ``&apos;`` and ``&amp;``.
"""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from itertools import islice
from pathlib import Path

from sacremoses import MosesDetokenizer, MosesDetruecaser, MosesTokenizer, MosesTruecaser

from fairseq_xl.io.atomic import atomic_outputs, atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import count_lines, read_lines
from fairseq_xl.io.progress import progress_bar
from fairseq_xl.text.workers import workers

LINES_PER_TASK = 500
PARALLEL_FROM = 20_000
"""Below this many lines the start of worker processes costs more than they save."""

TRAIN_ONE = "train one with fairseq-xl data train-truecaser"

# sacremoses compiles large regular expressions per object: one object per process and language.
tokenizer = cache(MosesTokenizer)
detokenizer = cache(MosesDetokenizer)
detruecaser = cache(MosesDetruecaser)


@cache
def truecaser(model: str) -> MosesTruecaser:
    """The truecaser of a model file, ours or one of Moses' train-truecaser.perl."""
    if not Path(model).is_file():
        raise InputError(f"there is no truecaser model {model}: {TRAIN_ONE}")
    try:
        return MosesTruecaser(load_from=model)
    except (ValueError, UnicodeDecodeError, AttributeError) as error:
        raise InputError(f"{model} is not a truecaser model ({error}): {TRAIN_ONE}") from None


def tokenize(line: str, language: str, escape: bool = False) -> str:
    """Split a sentence into tokens, returned with single spaces between them."""
    return tokenizer(language).tokenize(line, return_str=True, escape=escape)


def truecase(line: str, model: str, keep_known: bool = False) -> str:
    """Give each token of a tokenised sentence its most frequent case inside the training sentences.

    With ``keep_known`` only a sentence's first token and tokens whose case was never seen in training change, as in
    Moses' truecase.perl. Otherwise every token may change. That makes a smaller vocabulary and loses a little case
    (German "zum Fangen" becomes "zum fangen").
    """
    return truecaser(model).truecase(line, return_str=True, use_known=keep_known)


def detruecase(line: str) -> str:
    """Capitalise the first token of each sentence of a tokenised line."""
    return detruecaser().detruecase(line, return_str=True)


def detokenize(line: str, language: str, escape: bool = False) -> str:
    """Join the tokens of a line into plain text.

    ``escape`` says that the tokens carry HTML escapes to undo.
    """
    return detokenizer(language).detokenize(line.split(), return_str=True, unescape=escape)


def postprocess(line: str, language: str, escape: bool = False) -> str:
    """From the tokens of a hypothesis to the text that sacreBLEU compares with a raw reference."""
    return detokenize(detruecase(line), language, escape)


def map_lines(step: Callable[..., str], lines: Iterable[str], processes: int = 1, **options: object) -> Iterator[str]:
    """``step(line, **options)`` for each line, in order, over processes, in bounded memory."""
    apply, stream = partial(step, **options), iter(lines)
    if processes <= 1:
        yield from map(apply, stream)
        return
    # A pool drains its input at once, whatever its size: feed it a bounded slice at a time.
    with workers(processes, "prepares text") as pool:
        while window := list(islice(stream, 8 * processes * LINES_PER_TASK)):
            yield from pool.map(apply, window, chunksize=LINES_PER_TASK)


def map_file(
    step: Callable[..., str],
    source: Path | str,
    target: Path | str,
    processes: int = 1,
    **options: object,
) -> int:
    """Write ``step(line, **options)`` for each line of ``source`` to ``target``.

    Returns the number of lines. The target appears under its name only when it is complete. Raises
    :class:`InputError` for a missing file, and with file and line for invalid UTF-8.
    """
    total = count_lines(source)
    workers = processes if total >= PARALLEL_FROM else 1
    results = map_lines(step, read_lines(source), workers, **options)
    name = f"{step.__name__} {Path(source).name}"
    bar = progress_bar(name, True, total, " lines", results)
    with atomic_text(target) as stream:
        for line in bar:
            stream.write(line + "\n")
    return total


def train_truecaser(sources: Iterable[Path | str], model: Path | str) -> int:
    """Count the cases of the tokens of tokenised files and write a Moses truecaser model.

    Returns the number of distinct lower-cased tokens. The first token of a sentence does not count:
    its case says where it stood, not what it is.
    """
    sources = list(sources)
    caser = MosesTruecaser()
    # Not sacremoses' train(): it holds every token of the corpus in memory, we hold the counts.
    casing: dict[str, Counter[str]] = defaultdict(Counter)
    for source in sources:
        total, name = count_lines(source), f"truecaser {Path(source).name}"
        bar = progress_bar(name, True, total, " lines", read_lines(source))
        for line in bar:
            for lower, token, weight in caser.learn_truecase_weights(line.split()):
                casing[lower][token] += weight
    if not casing:
        names = ", ".join(str(source) for source in sources)
        raise InputError(f"no truecaser can be trained: {names} holds no token inside a sentence")
    caser.model = {"casing": casing}
    with tempfile.TemporaryDirectory() as folder, atomic_outputs(Path(model)) as (hidden,):
        # sacremoses puts a file of its own in the place of what it is told to write, be that a device.
        caser.save_model(f"{folder}/model")
        hidden.write_bytes(Path(folder, "model").read_bytes())
    return len(casing)
