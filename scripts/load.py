#!/usr/bin/env python
"""Run the largest sizes that the documentation speaks of, and record time and peak memory of each.

    python scripts/load.py --folder WORK --output records            # all, an hour or two and some 20 GB of disk
    python scripts/load.py vectors --folder WORK --scale 0.01        # one of them, at a hundredth of its size

    vectors     2,000,000 × 300 word vectors, made, read as text and as an array, and 50,000 chosen words of them
    sentences   1,000,000 sentences encoded; needs --encoder, a folder of `fairseq-xl embed pack`, and --text, one
                sentence a line, repeated as often as it takes
    neighbours  the nearest neighbours of 100,000 embeddings × 512, exactly; and of 1,000,000 × 256 in groups of six,
                by indexes, whose accuracy on a thousand of them stands beside the exact one
    transfer    10,000,000 sentences with translations, made into pairs by label transfer
    negatives   up to ten negatives for each of 400,000 sentences of 10,000 pages with 20 topics; needs --text with as
                many different lines, and --embeddings, their words' vectors

    words       4 sentences translated with 1,000,000 target words, by every word's score and by an index (untrained
                models of the papers' size, 10 words each, beam 5, three times; their building is in the time)
    line        one line translated, from the start of a process to its end, by the command and by Python: by
                CTranslate2 and by fairseq; needs --model, a packed Transformer, which is exported first; medians of
                five turns

Each is a process of its own, whose own peak memory the system reports. What is done stays: a second run measures what
is missing in OUTPUT/load.jsonl. A million target words trained are `benchmark.py vocabulary`, speeds of decoding them
`benchmark.py decode --words 1000000`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib import metadata
from itertools import cycle, islice
from pathlib import Path
from typing import Any

# Nothing heavy here: what the system reports as a child's peak memory is at least what this process has at the start.
from benchmarks.machine import processor
from tqdm import tqdm

ROOT = Path(__file__).resolve().parent.parent

CLI = "import sys; from fairseq_xl.cli.main import main; sys.exit(main())"
READ = """
import sys
path = sys.argv[1]
from fairseq_xl.vectors.table import read_vectors
print(len(read_vectors(path).words))
"""
CHOOSE = """
import itertools, sys
from fairseq_xl.vectors.table import read_vectors
words = [line.strip() for line in itertools.islice(open(sys.argv[2]), int(sys.argv[3]))]
print(len(read_vectors(sys.argv[1], words).words))
"""
NEIGHBOURS = """
import sys
import numpy as np
from fairseq_xl.syntactic.evaluation.neighbours import accuracies
size = int(sys.argv[1])
random = np.random.default_rng(1)
vectors = random.standard_normal((size, 512), dtype=np.float32)
print(accuracies(vectors, random.integers(0, max(2, size // 10), size)).mean(0))
"""
GROUPED = """
import json, sys
import numpy as np
from fairseq_xl.syntactic.evaluation.approximate import accuracies
size, kind = int(sys.argv[1]), sys.argv[2]
random = np.random.default_rng(1)
groups = np.arange(size) // 6
vectors = random.standard_normal((groups[-1] + 1, 256), dtype=np.float32)[groups]
vectors += 1.2 * random.standard_normal(vectors.shape, dtype=np.float32)
vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
found = accuracies(vectors, groups, kind, ks=(1, 5))
chosen = random.choice(size, min(1000, size), replace=False)
exact = []
for row in chosen:
    cosines = vectors @ vectors[row]
    cosines[row] = -2
    nearest = np.argsort(-cosines)[:5]
    exact.append([groups[nearest[0]] == groups[row], (groups[nearest] == groups[row]).mean()])
means = {"accuracy_1_5": found[chosen].mean(0), "exact_accuracy_1_5": np.mean(exact, 0)}
print(json.dumps({name: mean.round(4).tolist() for name, mean in means.items()}))
"""
TRANSLATE = """
import sys
from fairseq_xl import Translator
print(Translator.load(sys.argv[1], "cpu").translate(open(sys.argv[2]).read().splitlines())[0])
"""
TOPICS = ["order", "refund", "password", "invoice", "delivery", "account", "price", "seller", "coupon", "address"]
ACTIONS = ["cancel", "find", "change", "lose", "pay", "open", "close", "return", "track", "print"]
OPENINGS = ["I {}", "we {}", "can I {}", "can you {}", "they should {}", "you will {} for them"]


class Records:
    """What has been measured, a JSON object a line."""

    def __init__(self, folder: Path, scale: float):
        self.path = folder / "load.jsonl"
        self.scale = scale
        folder.mkdir(parents=True, exist_ok=True)
        text = self.path.read_text(encoding="utf-8") if self.path.is_file() else ""
        self.rows = [json.loads(line) for line in text.splitlines()]

    def measure(self, name: str, command: list[str], tells: bool = False, **about: Any) -> None:
        """Run a command unless it was measured before; its time, processor time and peak memory, and what it says, an
        object of JSON, if it ``tells``. Of ``turns``, if ``about`` has them, the one whose time
        is the median.

        Raises: SystemExit: it fails.
        """
        if any(row["name"] == name and row["scale"] == self.scale for row in self.rows):
            print(f"{name}: measured before")
            return
        print(f"{name} …", flush=True)
        times = sorted(self._run(name, command, tells) for _ in range(about.get("turns", 1)))
        seconds, processor_seconds, peak, said = times[len(times) // 2]
        if tells:
            about |= json.loads(said)
        row = {
            "name": name,
            "scale": self.scale,
            **about,
            "seconds": round(seconds, 1 if seconds > 10 else 2),
            "processor_seconds": round(processor_seconds, 1 if processor_seconds > 10 else 2),
            "peak_mib": peak // 1024,
            "device": processor(),
            "cores": os.cpu_count(),
            "torch": metadata.version("torch"),
        }
        self.rows.append(row)
        unfinished = self.path.with_name(f"{self.path.name}.tmp")
        unfinished.write_text("".join(json.dumps(row) + "\n" for row in self.rows), encoding="utf-8")
        unfinished.replace(self.path)
        print(f"{name}: {seconds:.{0 if seconds > 10 else 2}f} s, {row['peak_mib']} MiB", flush=True)

    def _run(self, name: str, command: list[str], tells: bool) -> tuple[float, float, int, bytes]:
        """Seconds, processor seconds, peak memory in KiB, and what was said. Raises: SystemExit: it fails."""
        started = time.monotonic()
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        child = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE if tells else sys.stderr)
        said = child.stdout.read() if child.stdout else b""
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.monotonic() - started
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            sys.exit(f"error: {name} ended with {child.returncode}")
        return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, said


def written(path: Path, count: int, lines: Callable[[], Iterator[str]]) -> Path:
    """A file with so many lines, unless it is there."""
    if not path.is_file():
        unfinished = path.with_name(f"{path.name}.tmp")
        with unfinished.open("w", encoding="utf-8") as stream:
            for line in tqdm(islice(lines(), count), total=count, desc=path.name, unit_scale=True):
                stream.write(line + "\n")
        unfinished.replace(path)
    return path


def vectors(args: argparse.Namespace, records: Records) -> None:
    size = round(2_000_000 * args.scale)
    words = written(args.folder / f"words.{size}", size, lambda: (f"word{n}" for n in range(size)))
    table, array = (args.folder / f"table.{size}.{suffix}" for suffix in ("vec", "npy"))
    command = [sys.executable, "-c", CLI, "vectors"]
    about = {"words": size, "dimension": 300}
    if not array.is_file() or not table.is_file():
        for output in (array, table):
            subprocess.run(
                [*command, "random", "--words", words, "--dim", "300", "--output", output],
                check=True,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )
    for name, path in (("text", table), ("array", array)):
        about["mib"] = path.stat().st_size >> 20
        records.measure(f"vectors, {name}", [sys.executable, "-c", READ, str(path)], **about)
        chosen = str(round(50_000 * args.scale))
        records.measure(
            f"vectors, {name}, chosen",
            [sys.executable, "-c", CHOOSE, str(path), str(words), chosen],
            chosen=int(chosen),
            **about,
        )


def sentences(args: argparse.Namespace, records: Records) -> None:
    if args.encoder is None or args.text is None:
        sys.exit("error: sentences needs --encoder and --text")
    size = round(1_000_000 * args.scale)

    def lines() -> Iterator[str]:
        return cycle(args.text.read_text(encoding="utf-8").splitlines())

    text = written(args.folder / f"sentences.{size}", size, lines)
    output = args.folder / f"sentences.{size}.npy"
    command = [sys.executable, "-c", CLI, "embed", "text", str(args.encoder), str(text), "--output", str(output)]
    records.measure("sentences", command, sentences=size, text=args.text.name, encoder=args.encoder.name)


def neighbours(args: argparse.Namespace, records: Records) -> None:
    size = round(100_000 * args.scale)
    records.measure("neighbours", [sys.executable, "-c", NEIGHBOURS, str(size)], sentences=size, dimension=512)
    size = round(1_000_000 * args.scale)
    for kind in ("ivf", "hnsw"):
        command = [sys.executable, "-c", GROUPED, str(size), kind]
        records.measure(f"neighbours, {kind}", command, tells=True, sentences=size, dimension=256)


def questions(size: int) -> Iterator[str]:
    """Made-up sentences with translations: six wordings of each of very many questions, in any order."""
    draw = random.Random(1)
    for _ in range(size):
        number = draw.randrange(max(1, size // 4))
        opening = draw.choice(OPENINGS)
        action = f"{ACTIONS[number % 10]} the {TOPICS[number // 10 % 10]} item{number // 100}"
        english = opening.format(action)
        yield f"{english[::-1]}\t{english}"


def transfer(args: argparse.Namespace, records: Records) -> None:
    size = round(10_000_000 * args.scale)
    pairs = written(args.folder / f"questions.{size}.tsv", size, lambda: questions(size))
    output = args.folder / f"transferred.{size}.tsv"
    command = [sys.executable, "-c", CLI, "match", "transfer-labels", "--sentences", str(pairs)]
    records.measure("transfer", [*command, "--output", str(output)], sentences=size, mib=pairs.stat().st_size >> 20)


def pages(text: Path, size: int) -> Iterator[str]:
    """Different lines of a text as pages of 40, each beside its words reversed, as `corpus topics` writes them.

    Raises: SystemExit: too few.
    """
    every = text.read_text(encoding="utf-8").splitlines()
    lines = list(dict.fromkeys(line for line in every if len(line.split()) > 3))
    if len(lines) < size:
        sys.exit(f"error: {text} has {len(lines)} different lines of four words or more, {size} are wanted: add text")
    draw = random.Random(1)
    lines = draw.sample(lines, size)
    for start in range(0, size, 40):
        page = lines[start : start + 40]
        yield json.dumps(
            {
                "id": str(start),
                "urls": [f"/{start}", f"/xx/{start}"],
                "found_by": "made",
                "lines": [page, [" ".join(word[::-1] for word in line.split()) for line in page]],
                "beads": [[[i], [i]] for i in range(len(page))],
                "score": 1.0,
                "topic": draw.randrange(20),
            }
        )


def negatives(args: argparse.Namespace, records: Records) -> None:
    if args.embeddings is None or args.text is None:
        sys.exit("error: negatives needs --embeddings and --text")
    size = round(400_000 * args.scale)
    project = args.folder / f"project.{size}"
    command = [sys.executable, "-c", CLI, "corpus"]
    if not (project / "corpus.yaml").is_file():
        subprocess.run(
            [*command, "init", "--project", str(project), "--languages", "en", "xx", "--base", "https://example.org/"],
            check=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
    written(project / "topics.jsonl", -(-size // 40), lambda: pages(args.text, size))
    encoder = f"negatives.encoder=vectors:{args.embeddings.absolute()}"
    records.measure(
        "negatives",
        [*command, "negatives", "--again", "--project", str(project), "--set", encoder],
        sentences=size,
        text=args.text.name,
        encoder=args.embeddings.name,
    )


def words(args: argparse.Namespace, records: Records) -> None:
    size = round(1_000_000 * args.scale)
    benchmark = [sys.executable, str(ROOT / "scripts" / "benchmark.py"), "decode", "--output", str(args.folder)]
    about = {"words": size, "sentences": 4, "length": 10, "beam": 5}
    for nearest in ("dense", "ivf"):
        command = [*benchmark, "--words", str(size), "--sentences", "4", "--length", "10", "--beams", "5"]
        command += ["--nearest", nearest, "--softmax-limit", "0", "--repeats", "1"]
        records.measure(f"words, {nearest}", command, **about)


def line(args: argparse.Namespace, records: Records) -> None:
    if args.model is None:
        sys.exit("error: line needs --model")
    cli = [sys.executable, "-c", CLI, "translate"]
    export = args.folder / "export"
    if not export.is_dir():
        command = [*cli, "export", str(args.model), "--output", str(export)]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    text = str(written(args.folder / "line", 1, lambda: iter(["Ein Hund rennt über die Wiese."])))
    about: dict[str, Any] = {"turns": 5, "ctranslate2": metadata.version("ctranslate2")}
    for kind, folder in (("export", str(export)), ("model", str(args.model))):
        by_command = [*cli, "text", folder, "--device", "cpu", "--input", text]
        records.measure(f"line, {kind}, command", by_command, **about)
        records.measure(f"line, {kind}, Python", [sys.executable, "-c", TRANSLATE, folder, text], **about)


STEPS = {step.__name__: step for step in (vectors, sentences, neighbours, transfer, negatives, words, line)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", nargs="*", metavar="STEP", help=f"of {', '.join(STEPS)} (default: all)")
    parser.add_argument("--folder", type=Path, required=True, help="for the made-up files, which stay there")
    parser.add_argument("--output", type=Path, default=Path(), help="folder of load.jsonl (default: here)")
    parser.add_argument("--scale", type=float, default=1, help="share of the sizes (default: 1)")
    parser.add_argument("--encoder", type=Path, help="encoder folder, for sentences")
    parser.add_argument("--text", type=Path, help="text, for sentences and negatives")
    parser.add_argument("--model", type=Path, help="folder of a packed Transformer, for line")
    parser.add_argument("--embeddings", type=Path, help="word vectors, for negatives")
    args = parser.parse_args()
    unknown = set(args.steps) - set(STEPS)
    if unknown:
        parser.error(f"no step {', '.join(sorted(unknown))}; there are {', '.join(STEPS)}")
    args.folder.mkdir(parents=True, exist_ok=True)
    records = Records(args.output, args.scale)
    for name in args.steps or STEPS:
        STEPS[name](args, records)


if __name__ == "__main__":
    main()
