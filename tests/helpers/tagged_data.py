"""A data directory of made-up sentences, as ``fairseq-xl embed prepare`` writes it, and an encoder trained on it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

LEXICON = {
    "de": {"DET": ["der", "die"], "ADJ": ["rote", "kleine"], "NOUN": ["hund", "katze"], "VERB": ["rennt", "sieht"]},
    "en": {"DET": ["the", "a"], "ADJ": ["red", "small"], "NOUN": ["dog", "cat"], "VERB": ["runs", "sees"]},
    "es": {"DET": ["el", "la"], "ADJ": ["rojo", "chico"], "NOUN": ["perro", "gato"], "VERB": ["corre", "ve"]},
    "fr": {"DET": ["le", "un"], "ADJ": ["rouge", "petit"], "NOUN": ["chien", "chat"], "VERB": ["court", "voit"]},
}
PATTERNS = [
    "DET NOUN VERB",
    "DET ADJ NOUN VERB",
    "DET NOUN VERB DET NOUN",
    "NOUN VERB",
    "DET ADJ NOUN VERB DET ADJ NOUN",
    "VERB DET NOUN",
]


def tags_in(language: str, pattern: str) -> list[str]:
    """Spanish and French put adjectives last."""
    swapped = pattern.replace("ADJ NOUN", "NOUN ADJ") if language in ("es", "fr") else pattern
    return [*swapped.split(), "PUNCT"]


def tagged_sentence(draw: random.Random, language: str, pattern: str) -> str:
    words = [draw.choice(LEXICON[language][tag]) for tag in tags_in(language, pattern)[:-1]]
    return " ".join(words) + " ."


@pytest.fixture(scope="session")
def prepare(tmp_path_factory) -> Callable[..., Path]:
    """``prepare("de-en", "es-en", sizes=(200, 50), …)`` writes a data directory and returns it.

    ``languages`` are all target languages of the manifest (by default those of the pairs); ``untagged`` pairs have
    no tags; ``words`` are the languages that the SentencePiece model and the dictionary know.
    """
    import torch
    from fairseq.data import Dictionary, indexed_dataset

    from fairseq_xl.text.conllu import UPOS
    from fairseq_xl.text.subwords import encode, train_subwords

    shared: dict[tuple[str, ...], Path] = {}

    def subwords(languages: tuple[str, ...]) -> Path:
        if languages not in shared:
            folder = tmp_path_factory.mktemp("pieces")
            draw = random.Random(1)
            lines = [tagged_sentence(draw, one, draw.choice(PATTERNS)) for one in languages for _ in range(200)]
            (folder / "text").write_text("\n".join(lines) + "\n")
            train_subwords([folder / "text"], folder / "sentencepiece.model", 60)
            dictionary = Dictionary()
            for line in lines:
                for piece in encode(line, str(folder / "sentencepiece.model")).split():
                    dictionary.add_symbol(piece)
            dictionary.finalize(padding_factor=8)
            dictionary.save(str(folder / "dict.source.txt"))
            shared[languages] = folder
        return shared[languages]

    def make(
        *pairs: str,
        train: tuple[int, ...] = (60,),
        valid: int = 12,
        languages: tuple[str, ...] = (),
        untagged: tuple[str, ...] = (),
        words: tuple[str, ...] = tuple(LEXICON),
        seed: int = 1,
    ) -> Path:
        folder = tmp_path_factory.mktemp("prepared")
        draw = random.Random(seed)
        for name in ("sentencepiece.model", "dict.source.txt"):
            (folder / name).write_bytes((subwords(words) / name).read_bytes())
        tags = Dictionary()
        for tag in UPOS:
            tags.add_symbol(tag)
        tags.save(str(folder / "dict.upos.txt"))
        source_dictionary = Dictionary.load(str(folder / "dict.source.txt"))
        model = str(folder / "sentencepiece.model")

        def write(name: str, lines: list[str], dictionary: Dictionary) -> None:
            builder = indexed_dataset.make_builder(f"{folder}/{name}.bin", "mmap", vocab_size=len(dictionary))
            for line in lines:
                builder.add_item(torch.as_tensor(dictionary.encode_line(line, add_if_not_exist=False)))
            builder.finalize(f"{folder}/{name}.idx")

        entries = []
        for number, pair in enumerate(sorted(pairs)):
            source, target = pair.split("-")
            sizes = {"train": train[number % len(train)], "valid": valid}
            entry = {"source": source, "target": target, **sizes}
            for split, size in sizes.items():
                patterns = [draw.choice(PATTERNS) for _ in range(size)]
                left = [encode(tagged_sentence(draw, source, one), model) for one in patterns]
                right = [encode(tagged_sentence(draw, target, one), model) for one in patterns]
                write(f"{split}.{pair}.source", left, source_dictionary)
                write(f"{split}.{pair}.pieces", right, source_dictionary)
                if pair in untagged:
                    entry["upos"] = False
                else:
                    write(f"{split}.{pair}.upos", [" ".join(tags_in(target, one)) for one in patterns], tags)
            entries.append(entry)
        manifest = {
            "version": 1,
            "sentencepiece": "sentencepiece.model",
            "source_dictionary": "dict.source.txt",
            "targets": {"upos": "dict.upos.txt", "pieces": "dict.source.txt"},
            "languages": list(languages) or sorted({pair.split("-")[1] for pair in pairs}),
            "pairs": entries,
        }
        (folder / "manifest.json").write_text(json.dumps(manifest))
        return folder

    return make


UPOS_TRAINING = (
    "--task upos_translation --arch upos_lstm_tiny --criterion upos_cross_entropy --optimizer fused_adam --lr 0.01 "
    "--batch-size 16 --num-workers 0 --no-progress-bar --seed 3 "
)


@pytest.fixture(scope="session")
def upos_training() -> str:
    """Options of a small training on a data directory."""
    return UPOS_TRAINING


@pytest.fixture(scope="session")
def upos_run(prepare, fairseq_train, tmp_path_factory) -> tuple[Path, Path]:
    """A data directory, and the folder of the checkpoints that were trained on it."""
    data, saved = prepare("de-en", "en-de", "en-es"), tmp_path_factory.mktemp("saved")
    fairseq_train(f"{data} {UPOS_TRAINING} --max-epoch 2 --save-dir {saved}")
    return data, saved
