"""The command on a small corpus."""

from __future__ import annotations

import pytest
from fairseq.data import Dictionary, indexed_dataset

from fairseq_xl.cli.main import main


@pytest.fixture
def command(multilingual, tmp_path):
    """``prepare(…)`` runs the command on the small corpus with some options."""

    def of(*options, folder="prepared", tagged=("de", "en", "es")):
        taggers = [word for language in tagged for word in ("--tagger", multilingual.tagger(language))]
        words = ["embed", "prepare", "-o", tmp_path / folder, "--corpus", tmp_path / "corpus.sqlite"]
        words += [*multilingual.inputs, *taggers, "--valid", 5, *options]
        if not {"--like", "--vocabulary"} & set(options):
            words += ["--vocabulary", 150]
        return main(list(map(str, words)))

    return of


def read(folder, name, dictionary):
    data = indexed_dataset.MMapIndexedDataset(str(folder / name))
    symbols = Dictionary.load(str(folder / dictionary))
    lines = [[symbols[token] for token in row] for row in data]
    assert all(line[-1] == "</s>" for line in lines)
    return [line[:-1] for line in lines]
