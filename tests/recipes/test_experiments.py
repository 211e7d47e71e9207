"""Every experiment of the project: its recipes accept what it passes to them, for the data and for each system."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from fairseq_xl.experiment.config import load
from fairseq_xl.experiment.runner import commands

FILES = sorted((Path(__file__).resolve().parents[2] / "recipes" / "experiments").glob("*.yaml"))
# what --set gives, by the beginning of a file's name
DATA = {
    "emoji": {"data": "emoji"},
    "iwslt16": {},
    "multi30k": {"data": "mt/multi30k", "mono": "mono/en.txt"},
    "question-matching": {"data": "pairs/cikm2018"},
    "sentiment": {"data": "sentiment"},
    "tatoeba": {"data": "mt/tatoeba/deu-eng.tsv", "mono": "mono/en.txt"},
}
# a data directory that a recipe's command writes
PREPARED = re.compile(r"^fairseq-(?:xl (?:match|classify) prepare --output|preprocess .*--destdir) (\S+)", re.MULTILINE)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_dry_run_of_each_system(data_dir, tmp_path, file):
    given = next(given for begin, given in DATA.items() if file.name.startswith(begin))
    changes = [f"{option}={data_dir / name}" for option, name in given.items()]
    if file.stem == "sentiment-lexicon":
        lexicon = tmp_path / "en-es.tsv"
        lexicon.write_text("good\tbueno\t0.9\n")
        changes.append(f"lexicon=en-semeval={lexicon}")
    if file.stem == "sentiment-vectors":
        for side in ("low", "high"):
            (tmp_path / f"{side}.vec").write_text("good 1\n")
            changes.append(f"{side}-vectors={tmp_path / side}.vec")
    first = {cell.system: cell for cell in reversed(load(file, changes).cells) if not cell.needs}
    folders: dict[bool, set[str]] = {True: set(), False: set()}
    for bash, recipe, *options in commands(list(first.values()), tmp_path / "out"):
        done = subprocess.run([bash, recipe, "--dry-run", *options], capture_output=True, text=True)
        assert done.returncode == 0, f"{' '.join(options)}: {done.stderr}"
        folders["--prepare-only" in options].update(PREPARED.findall(done.stdout))
    assert folders[True], "data are prepared before"
    assert folders[True] == folders[False], "what the cells read is prepared, and nothing else"
