"""The folder of a corpus: its settings, the files of each step, and which steps are done.

corpus.yaml         settings, a section a step; `fairseq-xl corpus init` writes one to be edited
crawl/              pages as they came, pages.jsonl about them and pairs.jsonl, which belong together
extract.jsonl       documents after extraction; translate.jsonl, align.jsonl, topics.jsonl: after each further step
positives.tsv       pairs that mean the same; negatives.tsv: pairs that share a topic and not a meaning
export/             the corpus
reports/STEP.json   what each step counted, with the settings and inputs of its last complete run
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from fairseq_xl.corpus import STEPS
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import check, read_yaml
from fairseq_xl.io.steps import read_counts, run_once

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

SETTINGS = "corpus.yaml"
T = TypeVar("T", bound="DataclassInstance")
_CHANGE = re.compile(r"\w+(\.\w+)*=")
_CODE = re.compile(r"[A-Za-z0-9_-]{1,50}")


@dataclass(frozen=True)
class Project:
    """A project folder and its settings.

    Attributes:
        folder: of the project.
        languages: codes of both, the first being the one that topics are found in: en fr.
        sections: settings of each step, as the file and ``--set`` give them.
    """

    folder: Path
    languages: tuple[str, str]
    sections: Mapping[str, Mapping[str, Any]]

    @classmethod
    def open(cls, folder: Path, changes: Sequence[str] = ()) -> Project:
        """Read the settings; ``changes`` are STEP.OPTION=VALUE that go before the file's.

        Raises:
            InputError: no project, a change that is none, settings that are not YAML, or that name no two languages.
        """
        path = folder / SETTINGS
        for change in changes:
            if not _CHANGE.match(change):
                raise InputError(f"--set {change!r}: write STEP.SETTING=VALUE, such as topics.passes=5")
        try:
            read = read_yaml(path)
            if not isinstance(read, dict):
                raise InputError(f"{path} must be a mapping with languages and a section for each step")
            merged = OmegaConf.merge(read, OmegaConf.from_dotlist(list(changes)))
            found = OmegaConf.to_container(merged, resolve=True)
        except FileNotFoundError:
            raise InputError(f"{path} is missing: `fairseq-xl corpus init` makes a project") from None
        except RecursionError:
            raise InputError(f"{path} cannot be read: it is nested too deeply") from None
        except InputError:
            raise
        except (YAMLError, OmegaConfBaseException, ValueError) as error:
            raise InputError(f"{path} cannot be read: {' '.join(str(error).split())}") from None
        assert isinstance(found, dict)
        languages = language_pair(found.pop("languages", None), f"{path}: languages")
        # A section with nothing but comments is read as None.
        sections = {str(name): {} if section is None else section for name, section in found.items()}
        for name, section in sections.items():
            if name not in STEPS:
                raise InputError(f"{path}: there is no step {name}, but {', '.join(STEPS)}")
            if not isinstance(section, dict):
                raise InputError(f"{path}: {name} must be a section of settings, not {section!r}")
        return cls(folder, languages, sections)

    def settings(self, step: str, kind: type[T]) -> T:
        """A step's section as its dataclass.

        Raises:
            InputError: an unknown setting, or one of the wrong kind or out of bounds.
        """
        section = dict(self.sections.get(step, {}))
        try:
            merged = OmegaConf.merge(OmegaConf.structured(kind), section)
            found = cast(T, OmegaConf.to_object(merged))
        except OmegaConfBaseException as error:
            known = ", ".join(f.name for f in dataclasses.fields(kind))
            reason = str(error).splitlines()[0]
            raise InputError(f"{self.folder / SETTINGS}, {step}: {reason}; settings are {known}") from None
        check(found, f"{step}.")
        return found

    def path(self, given: str) -> Path:
        """A path in the settings, which is relative to the project's folder."""
        return self.folder / given

    def report(self, step: str) -> dict[str, Any]:
        """What a step counted; nothing if it has not run."""
        return read_counts(self._record(step))

    def run_once(self, name: str, step: Step[T], again: bool = False) -> tuple[dict[str, Any], bool]:
        """Do a step unless it is done; see :func:`~fairseq_xl.io.steps.run_once`.

        Raises:
            InputError: settings that do not fit, or whatever the step finds wrong.
        """
        settings = self.settings(name, step.settings)
        inputs = step.inputs(self, settings)
        outputs = [self.folder / output for output in step.outputs]
        work = partial(step.work, self, settings)
        return run_once(self._record(name), settings, inputs, work, outputs=outputs, again=again)

    def _record(self, step: str) -> Path:
        return self.folder / "reports" / f"{step}.json"


def language_pair(found: Any, where: str) -> tuple[str, str]:
    """Two different language codes, which may be parts of files' names.

    Args:
        where: what names them, in messages.

    Raises:
        InputError: something else.
    """
    listed = found if isinstance(found, list) else []
    codes = [each for each in listed if isinstance(each, str) and _CODE.fullmatch(each)]
    if len(listed) != 2 or len(set(codes)) != 2:
        raise InputError(f"{where} must be two codes, such as [en, fr]")
    return codes[0], codes[1]


@dataclass(frozen=True)
class Step(Generic[T]):
    """A step of the pipeline.

    Attributes:
        settings: dataclass of its section in corpus.yaml.
        inputs: the files that it reads; refuses settings that do not fit together.
        outputs: the files that it always writes, in the project's folder.
        work: does it and returns what it counted.
        forget: removes what would let it go on where it was, before it is done again.
    """

    settings: type[T]
    inputs: Callable[[Project, T], Sequence[Path]]
    outputs: Sequence[str]
    work: Callable[[Project, T], dict[str, Any]]
    forget: Callable[[Project], None] = lambda _: None
