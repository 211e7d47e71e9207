"""A recipe that does nothing but what a test tells it to, and experiments of it."""

from __future__ import annotations

from pathlib import Path

# Notes each call in `calls`. NAME.fails makes a run fail, NAME.slow makes it wait until that file is gone, and with
# NAME.trained it finds its training done.
RECIPE = r"""#!/usr/bin/env bash
set -eu
here=$(dirname "$0")
echo "$*" >>"$here/calls"
name='' out='' prepare=no
while [[ $# -gt 0 ]]; do
  case $1 in
    --prepare-only) prepare=yes; shift ;;
    --) break ;;
    --name) name=$2; shift 2 ;;
    --out) out=$2; shift 2 ;;
    *) shift 2 ;;
  esac
done
if [[ $prepare == yes ]]; then name=prepare; fi
if [[ -e $here/$name.fails ]]; then echo "error: $name was told to fail" >&2; exit 3; fi
while [[ -e $here/$name.slow ]]; do sleep 0.05; done
if [[ $prepare == yes || -e $here/$name.forgets ]]; then exit; fi
mkdir -p "$out/runs/$name"
echo "${CUDA_VISIBLE_DEVICES:-none}" >>"$out/runs/$name/devices"
if [[ ! -e $here/$name.trained ]]; then echo trained >>"$out/runs/$name/train.log"; fi
echo '{}' >"$out/runs/$name/record.json"
"""

CONFIG = """
recipe: recipe.sh
seeds: 2
options: {src: de, size: 8}
systems:
  vmf: {seeds: [3]}
  cosine:
"""


class Playground:
    """A folder with the recipe and an experiment's file."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.config = folder / "experiment.yaml"
        self.out = folder / "out"
        (folder / "recipe.sh").write_text(RECIPE)
        self.write(CONFIG)

    def write(self, text: str) -> Path:
        self.config.write_text(text, encoding="utf-8")
        return self.config

    def tell(self, name: str, what: str) -> Path:
        path = self.folder / f"{name}.{what}"
        path.touch()
        return path

    def calls(self) -> list[str]:
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def forget_calls(self) -> None:
        (self.folder / "calls").unlink(missing_ok=True)
