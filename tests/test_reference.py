"""The pages of the reference that scripts/reference.py makes from the code."""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import fairseq.criterions
import fairseq.models
import reference
import yaml
from doc_pages import DOCS, ROOT

import fairseq_xl
from fairseq_xl import compat
from fairseq_xl.cli import main as cli
from fairseq_xl.cli import parsing


def every_command(name: str = "fairseq-xl", table: Mapping = cli.COMMANDS) -> Iterator[tuple[str, type]]:
    for each, (place, _) in table.items():
        found = parsing.load(place)
        if isinstance(found, Mapping):
            yield from every_command(f"{name} {each}", found)
        else:
            yield f"{name} {each}", found


def test_every_command_is_there_with_every_option():
    text = "".join(make() for path, make in reference.pages().items() if "/commands/" in path)
    for name, kind in every_command():
        section = text.partition(f"## {name}\n")[2].partition("\n##")[0]
        for action in parsing.add_options(argparse.ArgumentParser(), kind):
            shown = action.option_strings[0] if action.option_strings else action.metavar
            assert f"`{shown}`" in section, f"{name} {shown}"


def test_every_component_is_there_with_its_help():
    fairseq_xl.register()
    for page, registry in (
        ("models", fairseq.models.MODEL_DATACLASS_REGISTRY),
        ("criteria", fairseq.criterions.CRITERION_DATACLASS_REGISTRY),
    ):
        text = reference.options(page)
        ours = [name for name, kind in registry.items() if kind.__module__.startswith("fairseq_xl.")]
        assert len(ours) > 10
        for name in ours:
            assert f" {name} {{ #{name} }}" in text
    assert "| `--margin` | `0.75` |" in reference.options("criteria")
    assert "| `--decode-score` | `vmf_posterior` |" in reference.options("models")
    assert "| `--start-loss` | required |" in reference.options("criteria")
    assert "--lr-scheduler halving" in reference.options("optimisers")


def test_every_change_to_fairseq_is_there_with_what_was_broken():
    text = reference.changes()
    changed = {name for name, value in vars(compat).items() if inspect.isfunction(value)} - {"apply", "explain"}
    assert set(re.findall("^## (.*)", text, re.MULTILINE)) == changed
    for name in changed - {"show_input_errors_without_traceback"}:  # it mends nothing of fairseq's
        section = text.partition(f"## {name}\n")[2].partition("\n## ")[0]
        assert section.count("Broken: ") == 1, name
    written = sum(path.read_text("utf-8").count("Broken: ") for path in Path(compat.__file__).parent.rglob("*.py"))
    assert written == text.count("Broken: ") - 1, "the docstring of a function inside one that apply calls is not shown"


def test_all_public_losses_are_there():
    from fairseq_xl import losses

    text = reference.interface("losses")
    shown = {line.rpartition(".")[2] for line in text.splitlines() if line.startswith("::: ")}
    assert set(losses.__all__) - shown == {"LOSSES", "SCORES"}, "names, which the pages of options list"
    first = [line.rpartition(".")[2] for line in reference.interface("main").splitlines() if line.startswith("::: ")]
    assert sorted(first) == sorted(fairseq_xl.__all__)


def test_the_site_has_all_generated_pages_in_its_menu():
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    menu = str(yaml.safe_load(config)["nav"])
    assert all(f"'{path}'" in menu for path in reference.pages())
    assert all(f"'{page.relative_to(DOCS).as_posix()}'" in menu for page in DOCS.rglob("*.md"))


def test_plain_text_is_no_markdown():
    assert reference.escaped("a|b <c> ``d|*`` *e* [f]") == r"a\|b \<c\> `d|*` \*e\* \[f\]"
    assert reference.table(("a",), [("x\ny",)]) == "| a |\n| --- |\n| x y |"


def test_roles_of_docstrings_are_shown_as_names():
    assert reference.on_page_content("see :class:<code>a.X</code>: y") == "see <code>a.X</code>: y"
    assert reference.on_page_content("see :func:<code>~a.b.f</code>") == "see <code>f</code>"
