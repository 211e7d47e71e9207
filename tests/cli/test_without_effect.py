"""Options that would have no effect beside the others are refused before anything is read."""

from __future__ import annotations

import pytest

from fairseq_xl.cli.main import main

COMMANDS = {
    "--candidates is for --rerank, which is not given": "match search x --encoder y --index z --candidates 7",
    "--name names the record of --split, which is not given": "match predict x --name y",
    "--name is of the record of --split, which is not given": "classify predict x --name y",
    "--curve is of the record of --split, which is not given": "classify predict x --curve y 3",
    "--random-seed is the seed of --random-share, which is 0": "vectors convert x -o y --random-seed 3",
    "--min-dice is for IBM model 1, and --alignments brings other links": (
        "data lexicon x y -o z --alignments a --min-dice 0.5"
    ),
    "--replace-unk-distance is for --replace-unk, which is not given": (
        "data hypotheses x -o y --replace-unk-distance 3"
    ),
    "--as-read is for --replace-unk, which is not given": "data hypotheses x -o y --as-read z",
    "--seed is the seed of --cross-fit, which is not given": "match ensemble x -o y --seed 3",
    "--vectors is for vectors, and the baseline is constant": "match baseline constant x -o y --vectors z",
    "--parses is for mv-rnn, and the baseline is svm": "classify baseline svm x -o y --parses z",
}


@pytest.mark.parametrize("said", COMMANDS)
def test_it_is_refused(said, capsys):
    assert main(COMMANDS[said].split()) == 2
    assert capsys.readouterr().err == f"error: {said}: leave it out\n"
