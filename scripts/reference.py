"""The pages of the reference that are made from the code: commands, options of training, and the Python interface.

mkdocs calls ``on_files`` while it builds the site (``hooks`` in mkdocs.yml); nothing is written into docs/.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the checkout's package, before any that is installed

MODULES = {
    "main": (
        "Translate, encode and classify in Python",
        "`from fairseq_xl import Translator` imports no more than this name needs, and so do the other names.",
        (
            "fairseq_xl.translation.translator:Translator,Translation",
            "fairseq_xl.encode.encoder:SentenceEncoder",
            "fairseq_xl.siamese.prediction.classifier:TextClassifier",
            "fairseq_xl.pairs.prediction.predictor:PairPredictor",
            "fairseq_xl:register",
        ),
    ),
    "classifiers": (
        "What classifiers take and give",
        "Call `fairseq_xl.register()` before you import what is on this page.",
        (
            "fairseq_xl.siamese.models.voting_options:ReferenceVoting",
            "fairseq_xl.siamese.prediction.classifier:Prediction,Neighbour",
            "fairseq_xl.pairs.prediction.calibration:calibrated,read_calibration",
        ),
    ),
    "losses": (
        "Losses, tables and scores",
        "`fairseq_xl.losses` needs torch alone. Every name below is imported from it.",
        tuple(
            f"fairseq_xl.losses.{name}"
            for name in (
                *("base", "distances", "vmf", "power_spherical", "syn_margin", "margins", "likelihoods"),
                *("negatives", "table", "scores", "bessel", "closed_form"),
            )
        ),
    ),
    "components": (
        "Components for fairseq",
        "A criterion, a model or a pair classifier of your own builds on these.",
        (
            "fairseq_xl.continuous.criteria.criterion",
            "fairseq_xl.continuous.models.output",
            "fairseq_xl.pairs.models.model",
        ),
    ),
    "vectors": (
        "Tables of word vectors",
        "Reading, writing and measuring tables of vectors needs neither fairseq nor torch.",
        (
            "fairseq_xl.vectors.table",
            "fairseq_xl.vectors.coverage",
            "fairseq_xl.vectors.neighbours",
            "fairseq_xl.vectors.targets",
            "fairseq_xl.vectors.transform",
        ),
    ),
    "settings": (
        "Settings, errors and files",
        "A command, a section of a YAML file and a function's argument are one dataclass, made from these.",
        ("fairseq_xl.io.settings", "fairseq_xl.io.errors", "fairseq_xl.io.atomic"),
    ),
}
"""Name of a page -> its title, its first sentence, and its modules: all their public names, or those after a colon."""
_ESCAPED = re.compile(r"([|<>*_\[\]])")


def pages() -> dict[str, Callable[[], str]]:
    """Every generated page below reference/: what makes its text."""
    from fairseq_xl.cli.main import COMMANDS
    from fairseq_xl.cli.parsing import load

    groups = [name for name, (place, _) in COMMANDS.items() if isinstance(load(place), Mapping)]
    made: dict[str, Callable[[], str]] = {f"reference/commands/{name}.md": partial(commands, name) for name in groups}
    made["reference/commands/more.md"] = more_commands
    made |= {f"reference/options/{kind}.md": partial(options, kind) for kind in KINDS}
    made |= {f"reference/api/{name}.md": partial(interface, name) for name in MODULES}
    made["reference/changes-to-fairseq.md"] = changes
    return made


def on_files(files: Any, config: Any) -> Any:
    """Mkdocs' hook: add the generated pages to those of docs/."""
    from mkdocs.structure.files import File

    for path, make in pages().items():
        files.append(File.generated(config, path, content=make()))
    return files


def on_page_content(html: str, **_: Any) -> str:
    """Mkdocs' hook: the roles of docstrings (``:class:``) are shown as the names that they mark."""
    return re.sub(r":(?:class|func|meth|mod|attr|data):<code>(?:~[\w.]+\.)?([^<]+)</code>", r"<code>\1</code>", html)


# --- commands ---


def commands(group: str) -> str:
    """The page of one group of commands."""
    from fairseq_xl.cli.main import COMMANDS
    from fairseq_xl.cli.parsing import load

    place, about = COMMANDS[group]
    parts = [f"# fairseq-xl {group}", f"{_sentence(about)}"]
    parts += _below(f"fairseq-xl {group}", load(place), 2)
    return "\n\n".join(parts) + "\n"


def more_commands() -> str:
    """The page of the commands that are in no group."""
    from fairseq_xl.cli.main import COMMANDS
    from fairseq_xl.cli.parsing import load

    alone = {name: entry for name, entry in COMMANDS.items() if not isinstance(load(entry[0]), Mapping)}
    parts = ["# Other commands", "These commands stand for themselves.", *_below("fairseq-xl", alone, 2)]
    return "\n\n".join(parts) + "\n"


def _below(name: str, table: Mapping[str, tuple[str, str]], level: int) -> Iterator[str]:
    from fairseq_xl.cli.parsing import load

    for each, (place, about) in table.items():
        found = load(place)
        if isinstance(found, Mapping):
            yield f"{'#' * level} {name} {each}"
            yield _sentence(about)
            yield from _below(f"{name} {each}", found, level + 1)
        else:
            yield from _command(f"{name} {each}", found, level)


def _command(name: str, kind: type, level: int) -> Iterator[str]:
    from fairseq_xl.cli import parsing

    parser = argparse.ArgumentParser(prog=name, allow_abbrev=False)
    actions = parsing.add_options(parser, kind)
    yield f"{'#' * level} {name}"
    yield escaped(parser.description or "")
    rows = []
    for action in actions:
        names = ", ".join(f"`{one}`" for one in action.option_strings) or f"`{action.metavar}`"
        formatter = parser._get_formatter()
        takes = action.option_strings and action.nargs != 0
        values = formatter._format_args(action, _value(action)) if takes else ""
        text = formatter._expand_help(action) if action.help else ""
        rows.append((names, f"`{values}`" if values else "", escaped(text)))
    if rows:
        yield table(("option", "value", "meaning"), rows)


def _value(action: argparse.Action) -> str:
    if action.choices is not None:
        return "{" + ",".join(map(str, action.choices)) + "}"
    return action.dest.upper()


# --- options of models, tasks, criteria ---

KINDS = {
    "models": ("Models", "--arch"),
    "tasks": ("Tasks", "--task"),
    "criteria": ("Criteria", "--criterion"),
    "optimisers": ("Optimisers and schedules", "--optimizer", "--lr-scheduler"),
}


def options(kind: str) -> str:
    """The page of one kind of component: every option with its default and meaning."""
    title, *chosen_by = KINDS[kind]
    named = " and ".join(f"`{option}`" for option in chosen_by)
    parts = [f"# {title}", f"fairseq-train takes these as {named}. fairseq's own keep their options."]
    for option in chosen_by:
        parts += _components(option)
    return "\n\n".join(parts) + "\n"


def _components(option: str) -> Iterator[str]:
    from fairseq_xl.cli.options import REGISTRIES, components

    shown: dict[type, str] = {}
    for name, kind in components(option).items():
        yield f"## {option} {name} {{ #{name} }}"
        if about := _about(REGISTRIES[option][0], name):
            yield about
        if kind in shown:
            yield f"Its options are those of [{shown[kind]}](#{shown[kind]})."
            continue
        shown[kind] = name
        rows = [
            (f"`--{each.name.replace('_', '-')}`", _default(each), escaped(str(each.metadata["help"])))
            for each in dataclasses.fields(kind)
            if each.name != "_name" and "help" in each.metadata
        ]
        yield table(("option", "default", "meaning"), rows) if rows else "It has no options of its own."


def _about(module: str, name: str) -> str:
    """The first paragraph of the component's docstring."""
    for kind in ("MODEL", "TASK", "CRITERION", "OPTIMIZER", "LR_SCHEDULER"):
        made = getattr(importlib.import_module(module), f"{kind}_REGISTRY", {}).get(name)
        if made is not None and made.__module__.startswith("fairseq_xl."):
            return escaped(" ".join((inspect.getdoc(made) or "").split("\n\n")[0].split()))
    return ""


def _default(each: dataclasses.Field[Any]) -> str:
    default = each.default
    if default is dataclasses.MISSING and each.default_factory is not dataclasses.MISSING:
        default = each.default_factory()
    if default is dataclasses.MISSING or default is None or default == "":
        return ""
    value = getattr(default, "value", default)
    if value == "???":  # omegaconf's way to say so
        return "required"
    return "of the whole training" if str(value).startswith("${") else f"`{value}`"


# --- Python ---


def interface(name: str) -> str:
    """A page for mkdocstrings: every public name of the page's modules."""
    title, first, modules = MODULES[name]
    parts = [f"# {title}", first]
    for entry in modules:
        place, _, chosen = entry.partition(":")
        module = importlib.import_module(place)
        about = (inspect.getdoc(module) or "").split("\n\n")[0]
        parts.append(f"## {place}")
        parts.append(escaped(" ".join(about.split())))
        names = chosen.split(",") if chosen else public_names(module)
        parts += [f"::: {place}.{each}" for each in names]
    return "\n\n".join(parts) + "\n"


def public_names(module: Any) -> list[str]:
    """The classes and functions with a docstring that a module defines itself, in their order."""
    found = [
        (inspect.getsourcelines(value)[1], name)
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == module.__name__
        and value.__doc__
    ]
    return [name for _, name in sorted(found)]


# --- changes to fairseq ---


def changes() -> str:
    """The page of what the plugin changes in fairseq: the docstrings of what ``compat.apply`` calls, in its order."""
    from fairseq_xl import compat

    parts = [
        "# Changes to fairseq",
        "The plugin changes fairseq 0.12.3 in memory when it is registered. Its files stay as they are. Some changes "
        "mend what is broken on current Python, torch and numpy. Others say clearly what went wrong, or refuse what "
        "would lose something. No option turns a change off, for the tests run with all of them. In the code, take a "
        "line out of `apply` in `fairseq_xl/compat/__init__.py`.",
        escaped(inspect.getdoc(compat) or ""),
    ]
    for name in re.findall(r"^    (\w+)\(", inspect.getsource(compat.apply), re.MULTILINE):
        function = getattr(compat, name)
        parts += [f"## {name}", f"In `{function.__module__}`.", escaped(inspect.getdoc(function) or "")]
    return "\n\n".join(parts) + "\n"


# --- Markdown ---


def escaped(text: str) -> str:
    """Plain text as Markdown shows it: only what stands between backquotes is marked."""
    text = text.replace("``", "`")
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else _ESCAPED.sub(r"\\\1", part) for part in parts)


def table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A table of cells that are Markdown already."""
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "\n".join(f"| {' | '.join(cell.replace(chr(10), ' ') for cell in line)} |" for line in lines)


def _sentence(text: str) -> str:
    return escaped(text[:1].upper() + text[1:] + ("" if text.endswith(".") else "."))
