"""Keep the records of measured runs in the project, and print the README's table from them.

    python scripts/results.py keep OUT/runs/NAME …    # copies NAME/record.json into recipes/records/
    python scripts/results.py keep --trials OUT/runs/NAME …    # into recipes/records/trials/
    python scripts/results.py table                   # Markdown: one row per system, mean and deviation over seeds
    python scripts/results.py trials                  # Markdown: trials of settings on the development set, by loss

A kept record has the run's scores, signatures, settings, device and versions, and what `fairseq-xl diagnose`
measured; of paths only the last part.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any

RECORDS = Path(__file__).resolve().parent.parent / "recipes" / "records"
TRIALS = RECORDS / "trials"
SECTIONS = ("model", "criterion", "optimizer", "lr_scheduler", "optimization", "dataset")


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
        if folder == RECORDS and "test" not in record["scores"]:
            sys.exit(f"error: {path} has no scores of the recipe's own test set: is it a trial (--trials)?")
        record["training"] = {
            name: record["training"][name] for name in SECTIONS if name in record["training"]
        }
        record.pop("command", None)  # its options are all in `training`
        diagnosed = run / "diagnostics.json"
        if diagnosed.is_file():
            measured = json.loads(diagnosed.read_text(encoding="utf-8"))
            record["diagnostics"] = {"split": measured["split"], **without_lists(measured["checkpoints"][-1])}
        kept = folder / f"{Path(record['recipe']).stem}.{record['name']}.json"
        text = json.dumps(without_folders(record), indent=1, ensure_ascii=False, sort_keys=True)
        kept.write_text(text + "\n", encoding="utf-8")
        print(f"kept {kept.name}")


def read(folder: Path) -> list[dict[str, Any]]:
    records = [json.loads(p.read_text(encoding="utf-8")) for p in sorted(folder.glob("*.json"))]
    if not records:
        sys.exit(f"error: no records are kept in {folder} yet: run a recipe, then `results.py keep`")
    return records


def score(record: dict[str, Any], beam: int, test: str = "test") -> float:
    return record["scores"][test][f"beam{beam}"]["BLEU"]["score"]


def spread(values: list[float]) -> str:
    mean = f"{statistics.mean(values):.1f}"
    return mean if len(values) == 1 else f"{mean} ± {statistics.stdev(values):.1f}"


def data(record: dict[str, Any]) -> str:
    """The corpus, as its recipe is called, and the languages."""
    return f"{Path(record['recipe']).stem.capitalize()} {record['source']}→{record['target']}"


def system(record: dict[str, Any]) -> str:
    """The loss, and what is not the recipe's default."""
    kind = ", ".join(f"`{record[key]}`" for key in ("loss", "subwords", "transform") if key in record)
    if "targets" in record:
        kind += f", targets of a {record['targets']}"
    training = record["training"]
    if training["model"].get("_name", "").startswith("continuous_transformer"):
        kind += ", on a Transformer"
    if record["loss"] == "vmf" and training["criterion"]["lambda1"] == 0:
        kind += ", plain likelihood"
    return kind


def table() -> None:
    records = read(RECORDS)
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for record in records:
        groups.setdefault((data(record), system(record)), []).append(record)
    print("| data | loss | BLEU, beam 1 | BLEU, beam 5 | seeds | epochs |")
    print("|---|---|---|---|---|---|")
    ranked = sorted(groups.items(), key=lambda g: (g[0][0], -max(score(r, 5) for r in g[1])))
    for (corpus, kind), runs in ranked:
        bleu = [spread([score(r, beam) for r in runs]) for beam in (1, 5)]
        epochs = "-".join(str(e) for e in sorted({r["epochs"] for r in runs}))
        seeds = ", ".join(str(r["seed"]) for r in sorted(runs, key=lambda r: r["seed"]))
        print(f"| {corpus} | {kind} | {bleu[0]} | {bleu[1]} | {seeds} | {epochs} |")
    signatures = {r["scores"]["test"]["beam5"]["BLEU"]["signature"] for r in records}
    print(f"\nsacreBLEU: {'; '.join(sorted(signatures))}")


def trials() -> None:
    """One row per trial, the best of each loss first; its name says what it changed."""
    losses: dict[str, list[dict[str, Any]]] = {}
    for record in read(TRIALS):
        losses.setdefault(record["loss"], []).append(record)
    print("| loss | trial | epochs | BLEU on val, beam 1 | beam 5 |")
    print("|---|---|---|---|---|")
    for loss, runs in losses.items():
        for run in sorted(runs, key=lambda r: -score(r, 5, "val")):
            name = run["name"].removeprefix("trial.").split(".seed")[0]
            changed = "" if name == loss else name.partition("_")[2].replace("_", " ")
            bleu = [f"{score(run, beam, 'val'):.1f}" for beam in (1, 5)]
            print(f"| `{loss}` | {changed or 'first settings'} | {run['epochs']} | {bleu[0]} | {bleu[1]} |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    steps = parser.add_subparsers(dest="step", required=True)
    keeping = steps.add_parser("keep", help="copy runs' records into the project")
    keeping.add_argument("runs", nargs="+", type=Path)
    keeping.add_argument("--trials", action="store_true", help="trials of settings, scored on val")
    steps.add_parser("table", help="print the table of all kept records")
    steps.add_parser("trials", help="print the table of all kept trials")
    args = parser.parse_args()
    if args.step == "keep":
        keep(args.runs, TRIALS if args.trials else RECORDS)
    else:
        {"table": table, "trials": trials}[args.step]()


if __name__ == "__main__":
    main()
