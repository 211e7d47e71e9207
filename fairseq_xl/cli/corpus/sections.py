"""The sections of corpus.yaml: the dataclass of each step's settings, from which ``init`` writes its comments."""

from __future__ import annotations

import dataclasses
import importlib
import textwrap
from collections.abc import Iterator
from typing import Any

from omegaconf import OmegaConf

# step -> module:dataclass; each field has its help as metadata
SECTIONS = {
    "crawl": "fairseq_xl.corpus.crawling.site:CrawlSettings",
    "extract": "fairseq_xl.corpus.documents.extract:ExtractSettings",
    "translate": "fairseq_xl.cli.corpus.translate:TranslateSettings",
    "align": "fairseq_xl.cli.corpus.align:AlignSettings",
    "topics": "fairseq_xl.cli.corpus.topics:TopicsSettings",
    "negatives": "fairseq_xl.cli.corpus.negatives:NegativesSettings",
    "export": "fairseq_xl.cli.corpus.export:ExportSettings",
}


def settings_of(step: str) -> type:
    """The dataclass of a step's settings."""
    module, _, name = SECTIONS[step].partition(":")
    return getattr(importlib.import_module(module), name)


def template(step: str, given: dict[str, Any]) -> Iterator[str]:
    """The lines of a section: the help and the default of every setting as comments, ``given`` ones set."""
    yield f"{step}:"
    for setting in dataclasses.fields(settings_of(step)):
        yield from textwrap.wrap(setting.metadata["help"], 100, initial_indent="  # ", subsequent_indent="  # ")
        chosen = setting.name in given
        value = given[setting.name] if chosen else _default(setting)
        mark = "  " if chosen else "  #"
        yield from (mark + line for line in OmegaConf.to_yaml({setting.name: value}).splitlines())
    yield ""


def _default(setting: dataclasses.Field[Any]) -> Any:
    if setting.default_factory is not dataclasses.MISSING:
        return setting.default_factory()
    return setting.default
