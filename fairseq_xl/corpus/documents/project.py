"""The folder of a corpus: its settings, the files of each step, and which steps are done.

corpus.yaml         settings, a section a step; `fairseq-xl corpus init` writes one to be edited
crawl/              pages as they came, pages.jsonl about them and pairs.jsonl, which belong together
extract.jsonl       documents after extraction; translate.jsonl, align.jsonl, topics.jsonl: after each further step
negatives.tsv       pairs that share a topic and not a meaning
export/             the corpus
reports/STEP.json   what each step counted
stamps/STEP         the settings and inputs of a step's last complete run
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

SETTINGS = "corpus.yaml"
T = TypeVar("T", bound="DataclassInstance")


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
            InputError: no project, settings that are not YAML, or that name no two languages.
        """
        path = folder / SETTINGS
        try:
            loaded = OmegaConf.load(path)
            if not isinstance(loaded, DictConfig):
                raise InputError(f"{path} must be a mapping with languages and a section for each step")
            read = OmegaConf.merge(loaded, OmegaConf.from_dotlist(list(changes)))
            found = OmegaConf.to_container(read, resolve=True)
        except FileNotFoundError:
            raise InputError(f"{path} is missing: `fairseq-xl corpus init` makes a project") from None
        except RecursionError:
            raise InputError(f"{path} cannot be read: it is nested too deeply") from None
        except InputError:
            raise
        except (YAMLError, OmegaConfBaseException, ValueError) as error:
            raise InputError(f"{path} cannot be read: {' '.join(str(error).split())}") from None
        assert isinstance(found, dict)
        languages = found.pop("languages", None)
        if not isinstance(languages, list) or len(languages) != 2 or len(set(languages)) != 2:
            raise InputError(f"{path}: languages must be two codes, such as [en, fr]")
        # A section with nothing but comments is read as None.
        sections = {str(name): {} if section is None else section for name, section in found.items()}
        for name, section in sections.items():
            if not isinstance(section, dict):
                raise InputError(f"{path}: {name} must be a section of settings, not {section!r}")
        return cls(folder, (str(languages[0]), str(languages[1])), sections)

    def settings(self, step: str, kind: type[T]) -> T:
        """A step's section as its dataclass.

        Raises:
            InputError: an unknown setting, or one of the wrong kind.
        """
        section = dict(self.sections.get(step, {}))
        try:
            merged = OmegaConf.merge(OmegaConf.structured(kind), section)
            return cast(T, OmegaConf.to_object(merged))
        except OmegaConfBaseException as error:
            known = ", ".join(f.name for f in dataclasses.fields(kind))
            reason = str(error).splitlines()[0]
            raise InputError(f"{self.folder / SETTINGS}, {step}: {reason}; settings are {known}") from None

    def path(self, given: str) -> Path:
        """A path in the settings, which is relative to the project's folder."""
        return self.folder / given

    def is_done(self, step: str, settings: Any, inputs: Iterable[Path]) -> bool:
        """Whether the step's last complete run had these settings and inputs."""
        stamp = self.folder / "stamps" / step
        return stamp.is_file() and stamp.read_text(encoding="utf-8") == _stamp(settings, inputs)

    def done(self, step: str, settings: Any, inputs: Iterable[Path], report: Mapping[str, Any]) -> None:
        """Write down that the step is complete, and what it counted."""
        with atomic_text(self.folder / "reports" / f"{step}.json") as stream:
            json.dump(report, stream, ensure_ascii=False, indent=1)
            stream.write("\n")
        with atomic_text(self.folder / "stamps" / step) as stream:
            stream.write(_stamp(settings, inputs))

    def report(self, step: str) -> dict[str, Any]:
        """What a step counted. Raises: InputError: it has not run."""
        try:
            return json.loads((self.folder / "reports" / f"{step}.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise InputError(f"{self.folder}: run `fairseq-xl corpus {step}` first") from None


def _stamp(settings: Any, inputs: Iterable[Path]) -> str:
    files = {}
    for path in inputs:
        if not path.is_file():
            raise InputError(f"{path} is missing: run the step before this one")
        with path.open("rb") as stream:
            files[path.name] = hashlib.file_digest(stream, "sha256").hexdigest()
    return json.dumps({"settings": dataclasses.asdict(settings), "inputs": files}, sort_keys=True, default=str)
