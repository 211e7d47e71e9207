"""The record of a run: one small JSON file that says what it was and what it scored.

The folder of a run holds ``checkpoints/``, ``train.log`` (fairseq-train's output with ``--log-format json``),
``train.command`` and files ``[SET.]score.beamN.json`` (sacreBLEU's JSON), as the recipes write them. Beside each score
``[SET.]score.beamN.search`` has the options of its search, and ``[SET.]words.beamN.json`` the recall of words (of
``fairseq-xl translate word-recall``).
"""

from __future__ import annotations

import platform
import re
import statistics
import subprocess
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from fairseq_xl.io.atomic import real_path, write_json
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.json_files import opened_json
from fairseq_xl.io.lines import read_lines
from fairseq_xl.report.training_log import GPU, TrainingLog, read_training_log
from fairseq_xl.training.checkpoints import plain

PACKAGES = (
    *("torch", "fairseq-fixed", "fairseq", "numpy", "sacrebleu", "sacremoses"),
    *("sentencepiece", "fasttext-numpy2", "fasttext"),
)
LENGTH_RATIO = re.compile(r" ratio = ([\d.]+)")


def _files(run: Path, kind: str, ending: str = "json") -> Iterator[tuple[Path, str, str]]:
    """A run's files ``[SET.]KIND.beamN.ENDING``, with the test set (``test``: the recipe's own) and the beam."""
    for path in sorted(run.glob(f"*{kind}.beam*.{ending}")):
        if found := re.fullmatch(rf"(?:(?P<set>.+)\.)?{kind}\.(?P<beam>beam\d+)\.{ending}", path.name):
            yield path, found["set"] or "test", found["beam"]


def read_scores(run: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """sacreBLEU's scores by test set, beam and metric, with signatures and lengths."""
    scores: dict[str, dict[str, dict[str, Any]]] = {}
    for path, test_set, beam in _files(run, "score"):
        with opened_json(path, "JSON output of sacrebleu", "score again") as metrics:
            entry = {metric["name"]: _score(metric) for metric in (metrics if isinstance(metrics, list) else [metrics])}
        beams = scores.setdefault(test_set, {})
        if beam in beams:
            raise InputError(f"{path} cannot be told from the recipe's own test set's: give that set another name")
        beams[beam] = entry
    return scores


def read_word_recall(run: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """By test set and beam: words of the references, and how many are right, by their count in the training text."""
    recall: dict[str, dict[str, dict[str, Any]]] = {}
    for path, test_set, beam in _files(run, "words"):
        with opened_json(path, "JSON output of translate word-recall", "score again") as counts:
            (recall.setdefault(test_set, {})[beam],) = counts.values()
    return recall


def read_searches(run: Path) -> dict[str, str]:
    """The options of each test set's search, of those that the run's folder tells."""
    files = _files(run, "score", "search")
    return {test_set: path.read_text(encoding="utf-8").strip() for path, test_set, _ in files}


def _score(metric: dict[str, Any]) -> dict[str, Any]:
    """Score and signature, and of BLEU the length of the output over the reference's."""
    found = {"score": metric["score"], "signature": metric["signature"]}
    ratio = LENGTH_RATIO.search(metric.get("verbose_score", ""))
    return {**found, "length_ratio": float(ratio[1])} if ratio else found


class Training(NamedTuple):
    """What a checkpoint says of its training."""

    options: dict[str, Any]
    """every option, by fairseq's sections"""
    epoch: int
    updates: int | None
    """None where the checkpoint has forgotten, as averaged ones have"""


def read_training(checkpoint: Path) -> Training:
    """How and for how long a checkpoint was trained."""
    import fairseq_xl

    fairseq_xl.register()
    from fairseq import checkpoint_utils
    from omegaconf import OmegaConf

    state = checkpoint_utils.load_checkpoint_to_cpu(str(checkpoint))
    options = state["cfg"]
    if OmegaConf.is_config(options):
        options = OmegaConf.to_container(options, resolve=True, enum_to_str=True)
    place = state.get("extra_state", {}).get("train_iterator", {})
    epoch = int(place.get("epoch", 0))
    # At the end of an epoch fairseq saves the beginning of the next.
    epoch = epoch if place.get("iterations_in_epoch") else max(epoch - 1, 0)
    history = state.get("optimizer_history") or [{}]
    return Training(plain(options), epoch, history[-1].get("num_updates"))


def device(on_cpu: bool) -> str:
    """The processor or accelerator of this machine, in words."""
    import torch

    if torch.cuda.is_available() and not on_cpu:
        return f"cuda: {torch.cuda.get_device_name()}"
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        models = re.findall(r"^model name\s*:\s*(.+)$", cpuinfo.read_text(), re.MULTILINE)
        name = models[0].strip() if models else name
    return f"cpu: {name}, {torch.get_num_threads()} threads"


def trained_on(log: Path) -> str:
    """The accelerator that fairseq's log of a training names, or else this machine's processor."""
    names = [found["name"] for line in read_lines(log) if (found := GPU.search(line))]
    return f"cuda: {names[-1]}" if names else device(on_cpu=True)


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that a score depends on."""
    import fairseq_xl

    found = {"python": platform.python_version(), "fairseq_xl": fairseq_xl.__version__}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def commit() -> str | None:
    """The commit of the suite's sources, with ``+changes`` where files differ; None outside git."""
    folder = Path(__file__).resolve().parent

    def git(*words: str) -> str:
        command = ["git", "-C", str(folder), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        git("ls-files", "--error-unmatch", __file__)  # the repository around an installed package is another one
        changed = git("status", "--porcelain", "--untracked-files=no")
        return git("rev-parse", "HEAD") + ("+changes" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def training_time(log: TrainingLog) -> dict[str, Any]:
    """The epochs of a training, and its seconds in updates (fairseq's ``train_wall``), without validating and saving.

    An epoch that was repeated after an interruption counts as it ended.
    """
    epochs = {record.epoch: record for record in log.of("train")}
    if not epochs:
        raise InputError(f"{log.path} shows no finished epoch: train for one at least")
    seconds = [record.values["train_wall"] for record in epochs.values()]
    return {
        "epochs": max(epochs),
        "updates": epochs[max(epochs)].updates,
        "seconds_per_epoch": round(statistics.median(seconds), 1),
        "training_seconds": round(sum(seconds), 1),
    }


def make_record(run: Path, about: dict[str, str], targets_run: Path | None = None) -> dict[str, Any]:
    """The record of the run in a folder.

    Args:
        about: what the folder cannot say (recipe, loss, …).
        targets_run: the run of the softmax whose output vectors are this run's targets, for the time that it took.
    """
    log, best = run / "train.log", run / "checkpoints" / "checkpoint_best.pt"
    for path in (log, best):
        if not path.is_file():
            raise InputError(f"there is no {path}: {run} is not the folder of a trained run")
    logged = read_training_log(log)
    taken = training_time(logged)
    training, best_epoch, updates = read_training(best)
    common = training.get("common", {})
    best_valid: dict[str, float] = {}
    for record in logged.of("valid"):
        if record.epoch == best_epoch and updates in (None, record.updates):
            best_valid |= {**record.values, "num_updates": float(record.updates)}
    command = run / "train.command"
    # The scores of a run may be of several searches, and a call of a recipe knows its own alone.
    searches = read_searches(run)
    if "test" in searches:
        about = {**about, "search": searches["test"]}
    others = {name: search for name, search in searches.items() if search != about.get("search")}
    return {
        "name": real_path(run).name,
        **about,
        "scores": read_scores(run),
        **({"other_searches": others} if others else {}),
        **({"word_recall": recall} if (recall := read_word_recall(run)) else {}),
        "seed": common.get("seed"),
        **taken,
        "best_epoch": best_epoch,
        "best_valid": best_valid,
        **({"targets_run": training_time(read_training_log(targets_run / "train.log"))} if targets_run else {}),
        "device": trained_on(log),
        "versions": versions(),
        "commit": commit(),
        "command": command.read_text(encoding="utf-8").strip() if command.is_file() else None,
        "training": training,
    }


def write_record(run: Path, about: dict[str, str], output: Path | None = None, targets_run: Path | None = None) -> None:
    """:func:`make_record` into a file, by default ``RUN/record.json``."""
    if not run.is_dir():
        raise InputError(f"there is no folder {run}: give the folder of a run")
    record = make_record(run, about, targets_run)
    write_json(output or run / "record.json", record, indent=2, ensure_ascii=False)
