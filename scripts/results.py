"""Keep the records of measured runs in the project, and print the README's table from them.

    python scripts/results.py keep OUT/runs/NAME …    # copies NAME/record.json into recipes/records/
    python scripts/results.py table                   # Markdown: one row per loss, mean and range over seeds

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
SECTIONS = ("model", "criterion", "optimizer", "lr_scheduler", "optimization", "dataset")


def without_folders(value: Any) -> Any:
    """The same data with every absolute path cut down to its last part."""
    if isinstance(value, dict):
        return {key: without_folders(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_folders(item) for item in value]
    return Path(value).name if isinstance(value, str) and value.startswith("/") else value


def without_histograms(value: Any) -> Any:
    """The same measurements without what only a figure needs."""
    if isinstance(value, dict):
        return {key: without_histograms(item) for key, item in value.items() if key != "histogram"}
    return value


def keep(runs: list[Path]) -> None:
    for run in runs:
        path = run / "record.json"
        if not path.is_file():
            sys.exit(f"error: there is no {path}: give the folder of a finished run")
        record = json.loads(path.read_text(encoding="utf-8"))
        record["training"] = {
            name: record["training"][name] for name in SECTIONS if name in record["training"]
        }
        record.pop("command", None)  # its options are all in `training`
        diagnosed = run / "diagnostics.json"
        if diagnosed.is_file():
            measured = json.loads(diagnosed.read_text(encoding="utf-8"))
            record["diagnostics"] = {"split": measured["split"], **without_histograms(measured["checkpoints"][-1])}
        kept = RECORDS / f"{record['name']}.json"
        text = json.dumps(without_folders(record), indent=1, ensure_ascii=False, sort_keys=True)
        kept.write_text(text + "\n", encoding="utf-8")
        print(f"kept {kept.name}")


def score(record: dict[str, Any], beam: int, metric: str = "BLEU") -> float:
    return record["scores"]["test"][f"beam{beam}"][metric]["score"]


def spread(values: list[float]) -> str:
    mean = f"{statistics.mean(values):.1f}"
    return mean if len(values) == 1 else f"{mean} ± {statistics.stdev(values):.1f}"


def table() -> None:
    records = [json.loads(p.read_text(encoding="utf-8")) for p in sorted(RECORDS.glob("*.json"))]
    if not records:
        sys.exit("error: no records are kept yet: run a recipe, then `results.py keep`")
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for record in records:
        kind = ", ".join(f"`{record[key]}`" for key in ("loss", "subwords", "transform") if key in record)
        groups.setdefault((f"{record['source']}→{record['target']}", kind), []).append(record)
    print("| pair | loss | BLEU, beam 1 | BLEU, beam 5 | seeds | epochs |")
    print("|---|---|---|---|---|---|")
    ranked = sorted(groups.items(), key=lambda g: (g[0][0], -max(score(r, 5) for r in g[1])))
    for (pair, kind), runs in ranked:
        bleu = [spread([score(r, beam) for r in runs]) for beam in (1, 5)]
        epochs = "-".join(str(e) for e in sorted({r["epochs"] for r in runs}))
        seeds = ", ".join(str(r["seed"]) for r in sorted(runs, key=lambda r: r["seed"]))
        print(f"| {pair} | {kind} | {bleu[0]} | {bleu[1]} | {seeds} | {epochs} |")
    signatures = {r["scores"]["test"]["beam5"]["BLEU"]["signature"] for r in records}
    print(f"\nsacreBLEU: {'; '.join(sorted(signatures))}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    steps = parser.add_subparsers(dest="step", required=True)
    keeping = steps.add_parser("keep", help="copy runs' records into the project")
    keeping.add_argument("runs", nargs="+", type=Path)
    steps.add_parser("table", help="print the table of all kept records")
    args = parser.parse_args()
    keep(args.runs) if args.step == "keep" else table()


if __name__ == "__main__":
    main()
