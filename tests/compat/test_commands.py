"""fairseq's commands on preprocessed data, where the installation has no compiled extension."""

import re

import pytest
import torch

from fairseq_xl.training import averaging, checkpoints


@pytest.mark.parametrize(
    "options",
    [
        "",  # token BLEU, the default
        "--scoring sacrebleu --beam 3 --lenpen 0.6 --remove-bpe",
        "--score-reference",
        "--prefix-size 1",
        "--sampling --sampling-topk 3 --beam 2 --nbest 2 --temperature 0.7 --seed 1",
        "--path {model}:{model}",
    ],
)
def test_generate(command, corpus, trained, capsys, options):
    options = options.format(model=trained)
    command("generate", f"{corpus} --path {trained} --max-len-b 6 --num-workers 0 {options}")
    output = capsys.readouterr().out
    assert len(re.findall(r"^H-", output, re.MULTILINE)) in (10, 20)
    assert re.search(r"BLEU", output)


def test_constrained_decoding(command, corpus, trained, capsys, tmp_path):
    typed = tmp_path / "input.txt"
    typed.write_text("der Hund malt ein Boot\tpaints\ta boat\n", encoding="utf-8")
    command("interactive", f"{corpus} --path {trained} --input {typed} --constraints --beam 4 --max-len-b 6")
    hypothesis = re.search(r"^H-0\t\S+\t(.*)$", capsys.readouterr().out, re.MULTILINE)[1]
    assert re.search(r"\bpaints\b.*\ba boat\b", hypothesis)


def test_checkpoints_chosen_by_bleu_load(trained):
    state = checkpoints.read(trained)
    assert state["extra_state"]["best"] >= 0  # a numpy number went through the safe loader


def test_averaged_checkpoint_translates(command, corpus, trained, capsys, tmp_path):
    output = tmp_path / "averaged.pt"
    state = averaging.average([trained, trained])
    torch.save(state, output)
    lines = []
    for path in (trained, output):
        command("generate", f"{corpus} --path {path} --max-len-b 6 --num-workers 0")
        text = capsys.readouterr().out
        lines.append(re.findall(r"^[HP]-.*$", text, re.MULTILINE))
    assert lines[0] == lines[1]
