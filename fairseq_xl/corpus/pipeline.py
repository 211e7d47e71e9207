"""All steps from a website to labelled pairs, in order, and the file of their settings."""

from __future__ import annotations

import dataclasses
import importlib
import json
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from fairseq_xl.corpus import STEPS
from fairseq_xl.corpus.project import SETTINGS, Project, Step, language_pair
from fairseq_xl.io.atomic import atomic_text, real_path
from fairseq_xl.io.errors import InputError


def step(name: str) -> Step[Any]:
    """A step by its name."""
    found: Step[Any] = importlib.import_module(STEPS[name]).STEP
    return found


def run_step(project: Project, name: str, again: bool = False) -> None:
    """Do a step unless it is done, and say what it counted.

    Raises:
        InputError: whatever the step finds wrong.
    """
    chosen = step(name)
    if again:
        chosen.forget(project)
    counts, before = project.run_once(name, chosen, again)
    shown = ", ".join(f"{key} {value}" for key, value in counts.items() if isinstance(value, (int, float, str)))
    print(f"{name}: {'done before' if before else shown}", file=sys.stderr)


def run_steps(project: Project, first: str, last: str, again: bool = False) -> None:
    """Do the steps from ``first`` to ``last`` that are not done.

    Raises:
        InputError: ``last`` comes before ``first``, or whatever a step finds wrong.
    """
    order = list(STEPS)
    chosen = order[order.index(first) : order.index(last) + 1]
    if not chosen:
        raise InputError(f"--last {last} comes before --first {first}: the order is {' '.join(order)}")
    for name in chosen:
        run_step(project, name, again)


def create_project(folder: Path, languages: Sequence[str], base: Sequence[str]) -> Path:
    """Write the settings of a new project, and return their file.

    Raises:
        InputError: there is one already, equal languages or such as are none, a base that is none.
    """
    from fairseq_xl.corpus.crawling.site import CrawlSettings, Site, is_address

    path = folder / SETTINGS
    if path.exists():
        raise InputError(f"{path} is there already: edit it, or name another folder")
    language_pair(list(languages), "--languages")
    base = [each if is_address(each) else str(real_path(Path(each))) for each in base]
    for each in base:
        if not is_address(each) and not Path(each).is_dir():
            raise InputError(f"{each} is neither an address http://… nor a folder")
    Site.of(CrawlSettings(base=base))
    lines = ["# Defaults are behind #: take it away to set one. Paths are relative to this file's folder."]
    lines += [f"languages: {json.dumps(list(languages))}", ""]  # no, which is Norwegian, would be false
    for name in STEPS:
        lines += section(name, {"base": base} if name == "crawl" else {})
    with atomic_text(path) as stream:
        stream.write("\n".join(lines))
    try:
        Project.open(folder)
    except InputError:
        path.unlink()
        raise
    return path


def section(name: str, given: dict[str, Any]) -> Iterator[str]:
    """The lines of a step's section: the help and the default of every setting as comments, ``given`` ones set."""
    kind = step(name).settings
    defaults = dataclasses.asdict(kind())
    yield f"{name}:"
    for setting in dataclasses.fields(kind):
        yield from textwrap.wrap(setting.metadata["help"], 100, initial_indent="  # ", subsequent_indent="  # ")
        mark = "  " if setting.name in given else "  #"
        value = given.get(setting.name, defaults[setting.name])
        yield from (mark + line for line in OmegaConf.to_yaml({setting.name: value}).splitlines())
    yield ""
