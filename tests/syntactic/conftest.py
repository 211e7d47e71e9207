"""A small corpus in four languages whose tags are known."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

NUMBERS = {
    "en": ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"],
    "de": ["eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn"],
    "es": ["uno", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez"],
    "nl": ["een", "twee", "drie", "vier", "vijf", "zes", "zeven", "acht", "negen", "tien"],
}
FRAMES = {
    "en": ("I see {} and {} cats.", "They buy {} or {} apples?", "Never sell {} of the {} ships!"),
    "de": ("Ich sehe {} und {} Katzen.", "Sie kaufen {} oder {} Äpfel?", "Verkauf nie {} der {} Schiffe!"),
    "es": ("Veo {} y {} gatos.", "Compran {} o {} manzanas?", "Nunca vendas {} de los {} barcos!"),
    "nl": ("Ik zie {} en {} katten.", "Ze kopen {} of {} appels?", "Verkoop nooit {} van de {} schepen!"),
}
TAGS = {
    "en": ("PRON VERB NUM CCONJ NUM NOUN PUNCT",) * 2 + ("ADV VERB NUM ADP DET NUM NOUN PUNCT",),
    "de": ("PRON VERB NUM CCONJ NUM NOUN PUNCT",) * 2 + ("VERB ADV NUM DET NUM NOUN PUNCT",),
    "es": ("VERB NUM CCONJ NUM NOUN PUNCT",) * 2 + ("ADV VERB NUM ADP DET NUM NOUN PUNCT",),
    "nl": ("PRON VERB NUM CCONJ NUM NOUN PUNCT",) * 2 + ("VERB ADV NUM ADP DET NUM NOUN PUNCT",),
}


def sentence(language: str, frame: int, one: int, other: int) -> str:
    return FRAMES[language][frame].format(NUMBERS[language][one], NUMBERS[language][other])


@dataclass(frozen=True)
class Multilingual:
    """Tab-separated files English to each other language, and a treebank of each language with every sentence.

    300 meanings: three frames with two numbers. Spanish has only those of an even first number.
    """

    folder: Path
    numbers: ClassVar[dict[str, list[str]]] = NUMBERS

    def pairs(self, language: str) -> str:
        return f"en-{language}={self.folder / f'{language}.tsv'}"

    def tagger(self, language: str) -> str:
        return f"{language}={self.treebank(language)}"

    def treebank(self, language: str) -> Path:
        return self.folder / f"{language}.conllu"

    @property
    def inputs(self) -> list[str]:
        return [word for language in ("de", "es", "nl") for word in ("--pairs", self.pairs(language))]


@pytest.fixture
def multilingual(tmp_path) -> Multilingual:
    found = Multilingual(tmp_path / "text")
    found.folder.mkdir()
    meanings = [(frame, one, other) for frame in range(3) for one in range(10) for other in range(10)]
    for language in NUMBERS:
        lines, blocks = [], []
        for meaning in meanings:
            text = sentence(language, *meaning)
            tags = TAGS[language][meaning[0]].split()
            words = [*text[:-1].split(), text[-1]]
            rows = "".join(
                f"{place}\t{word}\t_\t{tag}\t_\t_\t_\t_\t_\t_\n"
                for place, (word, tag) in enumerate(zip(words, tags, strict=True), start=1)
            )
            blocks.append(f"# text = {text}\n{rows}\n")
            if language != "es" or meaning[1] % 2 == 0:
                lines.append(f"{sentence('en', *meaning)}\t{text}\n")
        found.treebank(language).write_text("".join(blocks), encoding="utf-8")
        if language != "en":
            (found.folder / f"{language}.tsv").write_text("".join(lines), encoding="utf-8")
    return found
