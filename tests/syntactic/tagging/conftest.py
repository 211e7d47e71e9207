"""Small treebanks, and taggers that are trained on them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairseq_xl.cli.main import main


def treebank(path: Path, sentences: list[list[tuple[str, str]]], spaces: bool = True) -> Path:
    """Sentences of (token, tags of its words)."""
    blocks = []
    for tokens in sentences:
        rows, number = [], 0
        for form, tags in tokens:
            tags = tags.split()
            if len(tags) > 1:
                rows.append([f"{number + 1}-{number + len(tags)}", form, "_"])
            for tag in tags:
                number += 1
                rows.append([str(number), form, tag])
        text = (" " if spaces else "").join(form for form, _ in tokens)
        lines = "".join(f"{row[0]}\t{row[1]}\t_\t{row[2]}\t_\t_\t_\t_\t_\t_\n" for row in rows)
        blocks.append(f"# text = {text}\n{lines}\n")
    path.write_text("".join(blocks), encoding="utf-8")
    return path


GERMAN = [
    [("Tom", "PROPN"), (verb, "VERB"), (preposition, tags), (noun, "NOUN"), (".", "PUNCT")]
    for verb in ("geht", "läuft", "fährt")
    for preposition, tags in (("zum", "ADP DET"), ("ans", "ADP DET"), ("ohne", "ADP"), ("durch", "ADP"))
    for noun in ("Haus", "Tor", "Wasser", "Dorf")
]
CHINESE = [
    [(who, "PRON"), (verb, "VERB"), (where, "PROPN"), ("。", "PUNCT")]
    for who in ("我", "你", "我们", "他们")
    for verb in ("去", "喜欢", "看见")
    for where in ("北京", "上海", "中国", "台湾")
]


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """A German and a Chinese tagger."""
    folder = tmp_path_factory.mktemp("taggers")
    for language, sentences in (("de", GERMAN), ("zh", CHINESE)):
        path = treebank(folder / f"{language}.conllu", sentences, language != "zh")
        words = [path, "-l", language, "-o", folder / language, "--epochs", 12, "--test", path]
        assert main(["embed", "train-tagger", *map(str, words)]) == 0
    return folder
