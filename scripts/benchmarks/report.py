"""What a measurement leaves: JSON lines that say how each figure was made, a table and a picture."""

from __future__ import annotations

import json
import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

import fairseq_xl
from benchmarks.machine import processor


class Report:
    """Collects rows, printing each as it comes."""

    def __init__(self, name: str, settings: dict[str, Any]):
        self.name = name
        self.folder: Path | None = settings.get("output")
        self.rows: list[dict[str, Any]] = []
        device = settings["device"]
        self.signature = {
            "benchmark": name,
            "device": torch.cuda.get_device_name() if device.startswith("cuda") else processor(),
            "cores": os.cpu_count(),
            "threads": torch.get_num_threads(),
            "fairseq_xl": fairseq_xl.__version__,
            "torch": torch.__version__,
            "fairseq": metadata.version("fairseq-fixed"),
            "python": platform.python_version(),
            "settings": {k: str(v) if isinstance(v, Path) else v for k, v in settings.items() if k != "output"},
        }
        print(json.dumps(self.signature))

    def add(self, **values: Any) -> None:
        """One row; its first values say what was measured. Lists go to the file, not into the table."""
        shown = {name: value for name, value in values.items() if not isinstance(value, list)}
        if not self.rows:
            print("| " + " | ".join(shown) + " |")
            print("|" + "---|" * len(shown))
        self.rows.append(values)
        print("| " + " | ".join(_shown(value) for value in shown.values()) + " |", flush=True)

    def finish(self, module: Any) -> None:
        """Write the lines, whole or not at all, and let the module draw them."""
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{self.name}.jsonl"
        unfinished = path.with_name(f"{path.name}.tmp")
        unfinished.write_text("".join(json.dumps({**row, "signature": self.signature}) + "\n" for row in self.rows))
        unfinished.replace(path)
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure = plt.figure(figsize=(9, 4.5), layout="constrained")
        module.draw(figure, self.rows)
        figure.savefig(self.folder / f"{self.name}.png", dpi=130)
        plt.close(figure)
        print(f"{path} and {self.name}.png")


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
