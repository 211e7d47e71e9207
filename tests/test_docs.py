"""What README.md and the pages of docs/ say can be done: their commands, options, links and examples exist."""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from doc_pages import DOCS, PAGES, ROOT, blocks, name_of

from fairseq_xl.cli import main as cli
from fairseq_xl.cli import parsing

GENERATED = ("api", "commands", "options")
"""folders of reference/ that are made from the code"""
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def commands(page: Path) -> Iterator[tuple[str, list[str]]]:
    """Where a command stands, and its words up to a pipe, redirection or comment; from blocks and from `code`."""
    shell = False
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            shell = line == "```sh"
        spans = [line] if shell or line.startswith("    ") else re.findall(r"`([^`]+)`", line)
        for span in spans:
            words = span.split("#")[0].split()
            words = [word.removeprefix(".venv/bin/").strip("'\"") for word in words]
            if words[:1] and (words[0].startswith("fairseq-") or words[0] == "bash"):
                yield f"{name_of(page)}, near line {number}", words


def every(program: str) -> list:
    found = [(where, words) for page in PAGES for where, words in commands(page) if words[0] == program]
    assert found, f"no page shows {program}"
    return [pytest.param(words, id=f"{where}: {' '.join(words[:4])}") for where, words in found]


def options(words: list[str]) -> Iterator[str]:
    for word in words:
        if word.startswith(("<", ">", "|")):
            return
        if re.fullmatch(r"-{1,2}[a-zA-Z][\w-]*(=.*)?", word):
            yield word.split("=")[0]


@pytest.mark.parametrize("words", every("fairseq-xl"))
def test_commands_of_ours_exist_with_their_options(words):
    named = list(itertools.takewhile(re.compile("[a-z][a-z-]*").fullmatch, words[1:]))
    name, found, _ = cli.find(named)
    if isinstance(found, Mapping):  # a group in a sentence, or alternatives such as align|topics
        return
    parser = argparse.ArgumentParser(prog=name)
    parsing.add_options(parser, found)
    for option in options(words[len(name.split()) :]):
        assert option in parser._option_string_actions, f"{name} has no option {option}"


@pytest.mark.parametrize("words", every("bash"))
def test_scripts_exist_with_their_options(words):
    script = ROOT / words[1]
    assert script.is_file()
    source = script.read_text() + "".join(p.read_text() for p in sorted((ROOT / "recipes").rglob("*.sh")))
    ours = words[2 : words.index("--") if "--" in words else None]
    if script.name != "test.sh":  # whose options are pytest's
        for option in options(ours):
            assert re.search(rf"(?<![\w-]){option}(?![\w-])", source), f"{script.name} has no option {option}"


@pytest.fixture(scope="module")
def fairseqs_options() -> set[str]:
    """The names of all options of fairseq's commands, with every component that is registered."""
    from fairseq import criterions, models, optim, tasks
    from fairseq import options as fairseqs
    from fairseq.dataclass.configs import FairseqConfig
    from fairseq.optim import lr_scheduler

    import fairseq_xl

    fairseq_xl.register()
    parsers = [
        fairseqs.get_training_parser(),
        fairseqs.get_generation_parser(),
        fairseqs.get_preprocessing_parser(),
        fairseqs.get_interactive_generation_parser(),
    ]
    names = {option for parser in parsers for option in parser._option_string_actions}
    registries = [
        models.MODEL_DATACLASS_REGISTRY,
        tasks.TASK_DATACLASS_REGISTRY,
        criterions.CRITERION_DATACLASS_REGISTRY,
        optim.OPTIMIZER_DATACLASS_REGISTRY,
        lr_scheduler.LR_SCHEDULER_DATACLASS_REGISTRY,
    ]
    parts = [kind for registry in registries for kind in registry.values() if dataclasses.is_dataclass(kind)]
    parts += [type(getattr(FairseqConfig(), field.name)) for field in dataclasses.fields(FairseqConfig)]
    for part in filter(dataclasses.is_dataclass, parts):
        names |= {f"--{field.name.replace('_', '-')}" for field in dataclasses.fields(part)}
    return names


@pytest.mark.parametrize("program", ["fairseq-train", "fairseq-generate"])
def test_options_of_fairseqs_commands_exist(program, fairseqs_options):
    for page in PAGES:
        for where, words in commands(page):
            if words[0] == program:
                missing = set(options(words)) - fairseqs_options - {"--power"}  # the tutorial's own loss
                assert not missing, f"{where}: {program} has no {missing}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", text)):
        if link.startswith("https://"):
            continue
        file, _, place = link.partition("#")
        target = page.parent / file if file else page
        if target.resolve().parent.name in GENERATED and target.resolve().is_relative_to(DOCS):
            continue  # scripts/docs.sh builds it, and looks for it
        assert target.exists(), link
        if place:
            heads = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), flags=re.MULTILINE)
            anchors = {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
            assert place in anchors, link


ARCHITECTURE = (DOCS / "explanation" / "architecture.md").read_text(encoding="utf-8")
# A file with its folder, and the name after it: `io/steps.py` `run_once`.
PLACES = sorted(set(re.findall(r"`([\w/]+/(?:\w+\.(?:py|sh))?)`(?: `(\w+)`)?", ARCHITECTURE)))


@pytest.mark.parametrize(("path", "name"), PLACES)
def test_what_the_architecture_names_is_there(path, name):
    (place,) = [root / path for root in (ROOT, ROOT / "fairseq_xl") if (root / path).exists()]
    said = rf"^ *(def|class) {name}\b|^{name}\(\)|^ *{name}\b *[:=]"  # in Python, in shell, a table or an option
    assert not name or re.search(said, place.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=name_of)
def test_no_page_installs_the_package_from_an_index(page):
    """It is on none."""
    assert not re.search(r"pip install \S*fairseq[-_]xl", page.read_text(encoding="utf-8"))


def test_the_loss_of_your_own_is_short():
    (example,) = [
        block.text
        for block in blocks(DOCS / "tutorials" / "own-loss.md")
        if block.kind == "python" and "class Angle(" in block.text
    ]
    assert len([line for line in example.splitlines() if line.strip()]) <= 20
