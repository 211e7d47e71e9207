"""Lines are translated by what the user has: a model, a command or a dictionary. Nothing uses the network.

A translator has an ``identity``, which changes when its translations may, and ``translate``, which returns as many
lines as it was given.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import utf8_name
from fairseq_xl.io.settings import option
from fairseq_xl.io.steps import checksum, signature
from fairseq_xl.text.subwords import processor

WORD = re.compile(r"[^\W_]+")
"""A word that a dictionary looks up. "l'heure" is two words."""


@dataclass
class TranslateSettings:
    """Section ``translate`` of corpus.yaml."""

    by: str = option(
        "what translates. Choose dictionary for word by word, model for CTranslate2, command for any program, or file "
        "for your own work. The better the translation, the more pairs the aligner finds",
        "dictionary",
        choices=("dictionary", "model", "command", "file"),
    )
    dictionary: str | None = option(
        "lexicon: lines of the second language's word, the first's and maybe a weight, with tabs or blanks between, or "
        "FILE.json. Without it, one is induced from "
        "the pages with equal numbers of lines and written as dictionary.tsv",
        None,
    )
    min_probability: float = option("induced dictionary: leave out translations below", 0.1, low=0, high=1)
    min_count: int = option("induced dictionary: leave out words with fewer occurrences", 2, low=1)
    model: str | None = option("folder of a CTranslate2 model (OPUS-MT, NLLB …)", None)
    source_subwords: str = option("its SentencePiece model of the second language, relative to model", "source.spm")
    target_subwords: str = option("its SentencePiece model of the first language. NLLB has one for all", "target.spm")
    source_token: str | None = option(
        "token before each line: fra_Latn for NLLB, >>fra<< for some OPUS-MT models", None
    )
    target_token: str | None = option("token that translations begin with: eng_Latn for NLLB", None)
    beam: int = option("beam of the model's search", 2, low=1)
    device: str = option("cpu or cuda, for the model", "cpu", choices=("cpu", "cuda"))
    command: list[str] = option(
        "program that reads lines and writes as many, with its arguments: [python, my.py]. It is started for each "
        "batch in the folder that you are in, without a shell",
        [],
    )
    file: str | None = option(
        "translation of extract.LANG.txt of the second language, line for line, that you have made", None
    )
    batch: int = option("lines at a time. A killed step loses at most so many", 1024, low=1)


class Translator(Protocol):
    """What a translator offers."""

    identity: str

    def translate(self, lines: Sequence[str]) -> list[str]:
        """A translation of each line. Raises: InputError: the translator fails."""


def command_files(command: Sequence[str]) -> list[Path]:
    """The files that a command names, such as a script of one's own: what they say may change."""
    return [path for path in map(Path, command) if path.is_file()]


class CommandTranslator:
    """Any program that reads lines and writes as many. It is started for each batch, without a shell."""

    def __init__(self, command: Sequence[str]):
        if not command:
            raise InputError("translate.command is empty: give the program and its arguments as a list")
        self.command = list(command)
        self.identity = f"command {json.dumps([*self.command, *map(checksum, command_files(command))])}"

    def translate(self, lines: Sequence[str]) -> list[str]:
        """See :class:`Translator`."""
        text = "".join(f"{line}\n" for line in lines)
        try:
            done = subprocess.run(self.command, input=text.encode(), capture_output=True, check=False)
        except OSError as error:
            raise InputError(f"translate.command: {self.command[0]}: {error.strerror}") from None
        if done.returncode:
            last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            raise InputError(f"translate.command ended with status {done.returncode}: {last}")
        try:
            found = done.stdout.decode().removesuffix("\n").split("\n")
        except UnicodeDecodeError:
            raise InputError("translate.command wrote something that is not UTF-8") from None
        if not done.stdout:
            found = []
        if len(found) != len(lines):
            raise InputError(
                f"translate.command wrote {len(found)} lines for {len(lines)}: it must write one for each, and for "
                "empty ones, too"
            )
        return [line.removesuffix("\r") for line in found]


class DictionaryTranslator:
    """Translate word by word. What is not in the dictionary stays as it is, and so does all between words."""

    def __init__(self, dictionary: dict[str, str]):
        self.dictionary = {word.lower(): other for word, other in reversed(dictionary.items())}
        content = json.dumps(sorted(self.dictionary.items()), ensure_ascii=False)
        self.identity = f"dictionary {hashlib.sha256(content.encode()).hexdigest()}"

    def translate(self, lines: Sequence[str]) -> list[str]:
        """See :class:`Translator`."""
        return [WORD.sub(self._word, line) for line in lines]

    def _word(self, found: re.Match[str]) -> str:
        word = found.group()
        other = self.dictionary.get(word.lower())
        if other is None or other == word.lower():
            return word
        if len(word) > 1 and word.isupper():
            return other.upper()
        return other[0].upper() + other[1:] if word[0].isupper() else other


class ModelTranslator:
    """A CTranslate2 model with its SentencePiece models: OPUS-MT, NLLB and others of their kind.

    Args:
        model: folder as CTranslate2's converters write it.
        settings: with its SentencePiece models and tokens. They may be the same for both sides, as in NLLB.

    Raises:
        InputError: there is no such model, or it does not know a token.
    """

    def __init__(self, model: Path, settings: TranslateSettings):
        import ctranslate2

        subwords = model / settings.source_subwords, model / settings.target_subwords
        self.source, self.target = (processor(str(path)) for path in subwords)
        try:
            self.model = ctranslate2.Translator(utf8_name(model), device=settings.device)
        except (RuntimeError, ValueError) as error:
            raise InputError(f"translate.model: {model}: {error}") from None
        self.settings = settings
        # Converters of fairseq and OpenNMT models leave the end of a sentence to the engine. Those of others do not.
        try:
            config = json.loads((model / "config.json").read_text(encoding="utf-8"))
        except ValueError:
            raise InputError(f"translate.model: {model / 'config.json'} is no JSON: convert the model again") from None
        self.end = [] if config.get("add_source_eos") else [config.get("eos_token", "</s>")]
        chosen = settings.source_token, settings.target_token, settings.beam
        self.identity = f"model {json.dumps(signature(chosen, [model, *subwords]))}"

    def translate(self, lines: Sequence[str]) -> list[str]:
        """See :class:`Translator`."""
        source_token, target_token = self.settings.source_token, self.settings.target_token
        before = [source_token] if source_token else []
        pieces = [before + tokens + self.end for tokens in self.source.encode(list(lines), out_type=str)]
        prefix = [[target_token]] * len(pieces) if target_token else None
        results = self.model.translate_batch(
            pieces,
            target_prefix=prefix,
            beam_size=self.settings.beam,
            max_batch_size=2048,
            batch_type="tokens",
            max_input_length=512,
            max_decoding_length=512,
        )
        found = (result.hypotheses[0] for result in results)
        skip = int(bool(target_token))
        return [" ".join(self.target.decode(tokens[skip:]).split()) for tokens in found]
