"""Keep the records of measured runs in the project, and print the tables of README and docs/ from them.

    python scripts/results.py keep OUT/runs/NAME …    # copies NAME/record.json into recipes/records/
    python scripts/results.py keep --trials OUT/runs/NAME …    # into recipes/records/trials/
    python scripts/results.py keep --curves OUT/runs/NAME …    # into recipes/records/curves/, with BLEU over time
    python scripts/results.py update                  # prints every table that a comment in a page names into it
    python scripts/results.py table                   # one row per system, mean and deviation over seeds
    python scripts/results.py chosen                  # the few rows of README
    python scripts/results.py compare BASELINE        # every system's difference from one, with p over seeds
    python scripts/results.py predictions LOSS …      # Table 2 of the syn-margin paper, means over seeds
    python scripts/results.py words                   # recall of rare words, means over seeds
    python scripts/results.py trials                  # trials of settings on the development set, by loss
    python scripts/results.py curves                  # quality on the development set after minutes and after epochs
    python scripts/results.py curves --gpu            # the same of runs on a GPU, after epochs alone

A kept record has the run's scores, signatures, settings, device and versions, and what `fairseq-xl translate diagnose`
measured; of paths only the last part.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import re
import statistics
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the checkout's package, before any that is installed

from result_names import on_gpu, system  # noqa: E402

from fairseq_xl.report.scores import spread  # noqa: E402
from fairseq_xl.report.word_recall import group_names  # noqa: E402

RECORDS = ROOT / "recipes" / "records"
TRIALS = RECORDS / "trials"
CURVES = RECORDS / "curves"
MINUTES, EPOCHS = (2, 4, 8, 16), (2, 4, 8, 16)
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
CHOSEN = {
    "`stock_transformer`, `bpe10000.joint`, on a Transformer of 128 units": "fairseq's Transformer on subwords",
    "`combined`, `bpe4000`, targets of a softmax of 4 epochs, which it goes on from, `label_smoothing=0.05`, "
    "`--unkpen 3 --lenpen 1.25`": "`combined` on subwords, length penalty 1.25",
    "`combined`, targets of a softmax of 3 epochs, which it goes on from, `label_smoothing=0.05`, `<unk>` replaced": (
        "`combined`, `<unk>` replaced by a lexicon"
    ),
    "`cross_entropy`, `bpe4000`": "softmax on subwords",
    "`combined`, targets of a softmax of 3 epochs, which it goes on from, `label_smoothing=0.05`, `--unkpen 3`": (
        "`combined`, `<unk>` penalised"
    ),
    "`cross_entropy`, `<unk>` replaced": "softmax, `<unk>` replaced by a lexicon",
    "`cross_entropy`, `--unkpen 3`": "softmax, `<unk>` penalised",
    "`cross_entropy`": "softmax",
    "`vmf`, targets of a softmax": "`vmf`, with a trained softmax's vectors as targets",
    "`syn_margin_diff`": "`syn_margin_diff`",
    "`syn_margin_proj`": "`syn_margin_proj`",
    "`vmf`": "`vmf`",
}
"""The rows of README, all of Multi30k de→en: as :func:`result_names.system` calls them -> in words."""
BLOCK = re.compile(r"(<!-- results\.py (.+?) -->\n).*?(?=<!-- end -->)", re.DOTALL)
PAPER = {
    "vmf": "0.96 | 0.91 | 0.39 | 23.6 | 28.9 | 32.2 | 34.8",
    "most_informative_negative": "0.87 | 0.80 | 0.28 | 23.2 | 28.0 | 31.5 | 33.9",
    "negative_sampling": "0.88 | 0.83 | 0.21 | 23.4 | 28.3 | 31.2 | 33.4",
    "syn_margin_diff": "0.91 | 0.88 | 0.41 | 23.9 | 29.6 | 33.0 | 35.5",
    "syn_margin_proj": "0.88 | 0.86 | 0.42 | 24.0 | 29.9 | 33.2 | 35.6",
}
"""Table 2 of Bhat, Kumar & Tsvetkov 2019, which does not say of which setting."""
SECTIONS = ("model", "criterion", "optimizer", "lr_scheduler", "optimization", "dataset")
WITHOUT_EFFECT = ("num_workers",)
"""Options of a training that leave its weights as they are."""


def without_folders(value: Any) -> Any:
    """The same data with every absolute path cut down to its last part."""
    if isinstance(value, dict):
        return {key: without_folders(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_folders(item) for item in value]
    return Path(value).name if isinstance(value, str) and value.startswith("/") else value


def without_lists(value: Any) -> Any:
    """The same measurements without what only a figure, or a table of words, needs."""
    if isinstance(value, dict):
        return {key: without_lists(item) for key, item in value.items() if key not in ("histogram", "words")}
    return value


def keep(runs: list[Path], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for run in runs:
        path = run / "record.json"
        if not path.is_file():
            sys.exit(f"error: there is no {path}: give the folder of a finished run")
        record = json.loads(path.read_text(encoding="utf-8"))
        if "recipe" not in record:
            sys.exit(f"error: {path} does not name its recipe: only runs of recipes are kept")
        if folder == RECORDS and not any(name.split(".")[0] == "test" for name in record["scores"]):
            sys.exit(f"error: {path} has no scores of the recipe's own test set: is it a trial (--trials)?")
        record["training"] = {name: record["training"][name] for name in SECTIONS if name in record["training"]}
        if (peak := peak_memory(run)) is not None:
            record["peak_MiB"] = peak
        if folder == CURVES:
            record["quality"] = quality(run, record)
        record.pop("command", None)  # its options are all in `training`
        diagnosed = run / "diagnostics.json"
        if diagnosed.is_file():
            measured = json.loads(diagnosed.read_text(encoding="utf-8"))
            if folder == CURVES:
                record["negatives"] = [
                    {"updates": c["updates"], **without_lists(c["stability"])} for c in measured["checkpoints"][:-1]
                ]
            record["diagnostics"] = {"split": measured["split"], **without_lists(measured["checkpoints"][-1])}
        kept = folder / f"{Path(record['recipe']).stem}.{record['name']}.json"
        if kept.is_file() and on_gpu(json.loads(kept.read_text(encoding="utf-8"))) != on_gpu(record):
            # the same cell on a processor and on a GPU: one beside the other
            kept = kept.with_suffix(".gpu.json" if on_gpu(record) else ".cpu.json")
        text = json.dumps(without_folders(record), indent=1, ensure_ascii=False, sort_keys=True)
        kept.write_text(text + "\n", encoding="utf-8")
        print(f"kept {kept.name}")


def quality(folder: Path, record: dict[str, Any]) -> dict[str, Any]:
    """BLEU on the development set at each validation, with the epochs and the minutes of training until then."""
    from fairseq_xl.report.runs import Run
    from fairseq_xl.report.speed import quality_over_time, sentences_per_second

    run = Run(folder, record["loss"], record["seed"], record)
    points = quality_over_time(run, "bleu")
    if not points:
        sys.exit(f"error: {folder}/train.log has no BLEU of validations: train with --eval-bleu")
    rounded = [[epochs, round(minutes, 2), bleu] for epochs, minutes, bleu in points]
    return {"sentences_per_second": sentences_per_second(run), "epochs, minutes, BLEU": rounded}


def peak_memory(run: Path) -> float | None:
    """Of its training, where `fairseq-xl experiment run` has measured it."""
    from fairseq_xl.experiment.state import State

    return State(run.absolute().parents[1] / "experiment.json")[run.name].peak_MiB


def read(folder: Path) -> list[dict[str, Any]]:
    records = [json.loads(p.read_text(encoding="utf-8")) for p in sorted(folder.glob("*.json"))]
    if not records:
        sys.exit(f"error: no records are kept in {folder} yet: run a recipe, then `results.py keep`")
    return records


def own_set(record: dict[str, Any]) -> str:
    """The recipe's own test set; where unknown words were replaced, the one after that."""
    return "test" if "test" in record["scores"] else str(next(iter(record["scores"])))


def own_test(record: dict[str, Any]) -> dict[str, Any]:
    """The scores of the recipe's own test set, by beam."""
    scores: dict[str, Any] = record["scores"][own_set(record)]
    return scores


def score(record: dict[str, Any], beam: int, metric: str = "BLEU") -> float:
    return own_test(record)[f"beam{beam}"][metric]["score"]


def data(record: dict[str, Any]) -> str:
    """The corpus, as its recipe is called, and the languages."""
    return f"{Path(record['recipe']).stem.capitalize()} {record['source']}→{record['target']}"


def groups() -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Kept runs by data and system, the best BLEU at beam 5 of each data set first.

    A system that was trained for longer, too, is another one then, and named with its epochs. The command ends where
    runs of one name were trained with different options, for they are no seeds of one system.
    """
    records = read(RECORDS)
    shortest: dict[tuple[str, str], int] = {}
    for record in records:
        key = data(record), system(record)
        shortest[key] = min(record["epochs"], shortest.get(key, record["epochs"]))
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for record in records:
        corpus, kind = data(record), system(record)
        if record["epochs"] > shortest[corpus, kind]:
            kind += f", {record['epochs']} epochs"
        found.setdefault((corpus, kind), []).append(record)
    for (corpus, kind), runs in found.items():
        refuse_different_options(f"{corpus}, {kind}", runs)
    return dict(sorted(found.items(), key=lambda g: (g[0][0], -statistics.mean(score(r, 5) for r in g[1]))))


def refuse_different_options(name: str, runs: list[dict[str, Any]]) -> None:
    """End the command where runs of one name differ in an option that all of them have; old ones lack newer options."""
    for section in SECTIONS:
        options = [options_that_matter(run, section) for run in runs]
        for option in sorted(set.intersection(*map(set, options))):
            given = {json.dumps(each[option]): run["name"] for each, run in zip(options, runs, strict=True)}
            if len(given) > 1:
                values = ", ".join(f"{value} ({run})" for value, run in given.items())
                sys.exit(
                    f"error: runs of different options have the name {name}, with {section}.{option} {values}: let "
                    "scripts/result_names.py name that option"
                )


def options_that_matter(run: dict[str, Any], section: str) -> dict[str, Any]:
    """A section of a run's training, without what has no effect. A softmax does not read how vectors are scored."""
    softmax = run["loss"].startswith("cross_entropy")
    return {
        option: value
        for option, value in run["training"].get(section, {}).items()
        if option not in WITHOUT_EFFECT and not (softmax and option.startswith("decode_"))
    }


def row(*cells: str) -> None:
    print(f"| {' | '.join(cells)} |")


def headings(*cells: str) -> None:
    row(*cells)
    print("|---" * len(cells) + "|")


def table() -> None:
    found = groups()
    measured = ("seeds", "epochs", "s an epoch", "min", "peak MiB")
    headings("data", "loss", "BLEU, beam 1", "BLEU, beam 5", "chrF2, beam 5", *measured)
    for (corpus, kind), runs in found.items():
        shown = [spread([score(r, beam) for r in runs]) for beam in (1, 5)]
        shown.append(spread([score(r, 5, metric="chrF2") for r in runs]))
        seeds = ", ".join(str(r["seed"]) for r in sorted(runs, key=lambda r: r["seed"]))
        seconds, peaks = ([run[key] for run in runs if key in run] for key in ("seconds_per_epoch", "peak_MiB"))
        minutes = [taken for run in runs if (taken := training_minutes(run)) is not None]
        row(corpus, kind, *shown, seeds, str(runs[0]["epochs"]), *map(between, (seconds, minutes, peaks)))
    for metric in ("BLEU", "chrF2"):
        signatures = {own_test(r)["beam5"][metric]["signature"] for runs in found.values() for r in runs}
        print(f"\n{metric}: {'; '.join(sorted(signatures))}")


def between(numbers: list[float]) -> str:
    """From the least to the most, for other work ran beside most runs; nothing where nothing was measured."""
    whole = sorted({round(number) for number in numbers})
    return " to ".join(f"{number:,}" for number in dict.fromkeys((*whole[:1], *whole[-1:])))


def training_minutes(record: dict[str, Any]) -> float | None:
    """Of all updates, those of the softmax that the targets come from as well; None where these were not recorded."""
    targets = record.get("targets_run", {}).get("training_seconds")
    if targets is None and "targets" in record:
        return None
    seconds = record.get("training_seconds", record["epochs"] * record["seconds_per_epoch"])
    return float(seconds + (targets or 0)) / 60


def chosen() -> None:
    """Few rows for readers in a hurry; the full table has them all."""
    found = {kind: runs for (corpus, kind), runs in groups().items() if corpus == "Multi30k de→en"}
    if missing := CHOSEN.keys() - found.keys():
        sys.exit(f"error: no run of {min(missing)} is kept in {RECORDS}")
    headings("system", "BLEU, beam 1", "BLEU, beam 5", "seeds", "epochs")
    for kind, words in CHOSEN.items():
        shown = [spread([score(r, beam) for r in found[kind]]) for beam in (1, 5)]
        first = found[kind][0]
        before = f"{first['target_epochs']} + " if "target_epochs" in first else ""
        row(words, *shown, str(len(found[kind])), f"{before}{first['epochs']}")


def compare(baseline: str) -> None:
    """A row for each system with the baseline's data: differences of means, and p by Welch's test over seeds."""
    from fairseq_xl.report.significance import seeds_differ

    found = groups()
    if not any(kind == f"`{baseline}`" for _, kind in found):
        sys.exit(f"error: no run of {baseline} is kept in {RECORDS}")
    columns = [(metric, beam) for metric in ("BLEU", "chrF2") for beam in (1, 5)]
    headings("data", f"loss, less `{baseline}`", *(f"{metric}, beam {beam}" for metric, beam in columns))
    for (corpus, kind), runs in found.items():
        others = found.get((corpus, f"`{baseline}`"))
        if others and others is not runs:
            cells = []
            for metric, beam in columns:
                theirs, ours = ([score(r, beam, metric=metric) for r in group] for group in (others, runs))
                p = seeds_differ(theirs, ours)
                tested = "" if p is None else f" ({p:.3f})" if p >= 0.001 else " (<0.001)"
                cells.append(f"{statistics.mean(ours) - statistics.mean(theirs):+.1f}{tested}".replace("-", "−"))
            row(corpus, kind, *cells)


def predictions(losses: list[str]) -> None:
    """Of each loss the similarities and accuracies on validation, in both settings, and the paper's."""
    found = groups()
    headings(
        *("data", "loss", "setting", "to nearest word, correct", "to nearest word, wrong", "to target, wrong"),
        *(f"accuracy@{k}" for k in (1, 2, 5, 10)),
    )
    for (corpus, kind), runs in found.items():
        for setting in ("teacher_forcing", "own_decoding") if kind.strip("`") in losses else ():
            measured = [r["diagnostics"][setting] for r in runs if "diagnostics" in r]
            if not measured:
                sys.exit(f"error: nothing was measured of the predictions of {kind}")
            cosines = [
                f"{statistics.mean(m[name] for m in measured):.3f}"
                for name in ("nearest_when_correct", "nearest_when_wrong", "target_when_wrong")
            ]
            accuracies = [f"{statistics.mean(m['accuracy'][k] for m in measured):.1f}" for k in ("1", "2", "5", "10")]
            row(corpus, kind, setting.replace("_", " "), *cosines, *accuracies)
    for loss in losses:
        if loss in PAPER:
            row("the paper's fr→en", f"`{loss}`", "", PAPER[loss])


def words() -> None:
    """Of each system at beam 5, the share of the references' words that it has, by their count in the training text."""
    counted = {}
    for key, runs in groups().items():
        recalls = [run.get("word_recall", {}).get(own_set(run), {}).get("beam5") for run in runs]
        if found := [recall for recall in recalls if recall]:
            counted[key] = found
    if not counted:
        sys.exit(f"error: no run that is kept in {RECORDS} has its recall of words: score one with a recipe of today")
    often = {"0": "never", "1": "once"}
    headings("data", "loss", *(often.get(name, f"{name} times") for name in group_names()), "seeds")
    for (corpus, kind), recalls in counted.items():
        cells = []
        for name in group_names():
            shares = [100 * r[name]["right"] / r[name]["words"] for r in recalls if r[name]["words"]]
            cells.append(spread(shares) if shares else "")
        row(corpus, kind, *cells, str(len(recalls)))


def trials() -> None:
    """One row per trial, the best of each loss first; its name says what it changed."""
    losses: dict[str, list[dict[str, Any]]] = {}
    for record in read(TRIALS):
        losses.setdefault(record["loss"], []).append(record)
    headings("loss", "trial", "epochs", "BLEU on val, beam 1", "beam 5")
    for loss, runs in losses.items():
        for run in sorted(runs, key=lambda r: -score(r, 5)):
            name = run["name"].removeprefix("trial.").split(".seed")[0]
            changed = "" if name == loss else name.partition("_")[2].replace("_", " ")
            bleu = [f"{score(run, beam):.1f}" for beam in (1, 5)]
            row(f"`{loss}`", changed or "first settings", str(run["epochs"]), *bleu)


def curves(gpu: bool = False) -> None:
    """Of each loss the best BLEU that it had reached on validation after so many minutes, and so many epochs.

    Of runs on a GPU the epochs alone: these ran side by side, so their minutes say nothing.
    """
    minutes = () if gpu else MINUTES
    speed = () if gpu else ("sentences/s", "peak MiB")
    after = [*(f"{n} min" for n in minutes), *(f"epoch {n}" for n in EPOCHS)]
    headings("data", "loss", *speed, *after, "best")
    for record in sorted((r for r in read(CURVES) if on_gpu(r) == gpu), key=lambda r: (data(r), r["loss"])):
        quality = record["quality"]
        points = quality["epochs, minutes, BLEU"]
        reached = [[bleu for _, passed, bleu in points if passed <= n] for n in minutes]
        reached += [[bleu for epochs, _, bleu in points if epochs <= n <= record["epochs"]] for n in EPOCHS]
        best = max(points, key=lambda point: point[2])
        cells = [f"`{record['loss']}`"]
        if not gpu:
            cells.append(f"{quality['sentences_per_second']:.0f}")
            cells.append(f"{record['peak_MiB']:,.0f}" if "peak_MiB" in record else "")
        cells += [f"{max(values):.1f}" if values else "" for values in reached]
        place = f"epoch {best[0]:.0f}" if gpu else f"epoch {best[0]:.0f}, {best[1]:.1f} min"
        row(data(record), *cells, f"{best[2]:.1f} ({place})")


def filled(text: str) -> str:
    """A page with its tables as the records are now."""

    def printed(block: re.Match[str]) -> str:
        with contextlib.redirect_stdout(io.StringIO()) as output:
            main(block[2].split())
        return block[1] + output.getvalue()

    return BLOCK.sub(printed, text)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(dest="step", required=True)
    keeping = steps.add_parser("keep", help="copy runs' records into the project")
    keeping.add_argument("runs", nargs="+", type=Path)
    where = keeping.add_mutually_exclusive_group()
    where.add_argument("--trials", action="store_true", help="trials of settings, scored on val")
    where.add_argument("--curves", action="store_true", help="runs of multi30k-curves.yaml")
    steps.add_parser("update", help="print the tables into the pages that have them")
    steps.add_parser("chosen", help="print the few rows of README")
    steps.add_parser("table", help="print the table of all kept records")
    comparing = steps.add_parser("compare", help="print every system's difference from one")
    comparing.add_argument("baseline", help="a loss, such as vmf")
    predicting = steps.add_parser("predictions", help="print what predictions of some losses are like")
    predicting.add_argument("losses", nargs="+")
    steps.add_parser("words", help="print the recall of rare words")
    steps.add_parser("trials", help="print the table of all kept trials")
    over_training = steps.add_parser("curves", help="print the table of quality over training")
    over_training.add_argument("--gpu", action="store_true", help="of runs on a GPU, by epochs alone")
    args = parser.parse_args(arguments)
    if args.step == "update":
        for path in PAGES:
            text = path.read_text(encoding="utf-8")
            if (new := filled(text)) != text:
                path.write_text(new, encoding="utf-8")
    elif args.step == "keep":
        keep(args.runs, TRIALS if args.trials else CURVES if args.curves else RECORDS)
    elif args.step == "compare":
        compare(args.baseline)
    elif args.step == "predictions":
        predictions(args.losses)
    elif args.step == "curves":
        curves(args.gpu)
    else:
        {"table": table, "chosen": chosen, "words": words, "trials": trials}[args.step]()


if __name__ == "__main__":
    main()
