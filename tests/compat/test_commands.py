"""fairseq's commands on preprocessed data, where the installation has no compiled extension."""

import math
import re

import numpy as np
import pytest
import torch
from fairseq.data import data_utils
from fairseq.scoring.bleu import BleuConfig, Scorer

from fairseq_xl.compat.compiled import token_bleu
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


def test_length_buckets(command, corpus, tmp_path, capsys):
    command(
        "train",
        f"{corpus} --arch transformer_iwslt_de_en --encoder-embed-dim 8 --decoder-embed-dim 8 "
        "--encoder-ffn-embed-dim 8 --decoder-ffn-embed-dim 8 --encoder-layers 1 "
        "--decoder-layers 1 --encoder-attention-heads 1 --decoder-attention-heads 1 "
        "--optimizer adam --lr 0.01 --max-tokens 200 --max-update 2 --num-workers 0 "
        f"--num-batch-buckets 2 --save-dir {tmp_path}",
    )
    assert checkpoints.updates(checkpoints.read(tmp_path / "checkpoint_last.pt")) == 2


def test_bucket_bounds_are_lower_percentiles():
    assert data_utils.get_buckets(np.array([1, 2, 3, 4, 10]), 2).tolist() == [3, 10]


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


def ints(*values):
    return torch.tensor(values, dtype=torch.int32)


def test_token_bleu_by_hand():
    token_bleu.supply_token_bleu()
    scorer = Scorer(BleuConfig(pad=1, eos=2, unk=3))
    # 5 of 6 words, 3 of 5 pairs, 2 of 4 triples, 1 of 3 quadruples match; lengths 6 and 6.
    scorer.add(ints(4, 5, 6, 7, 8, 9, 2), ints(4, 5, 6, 7, 3, 9, 2, 1))
    precisions = [5 / 6, 3 / 5, 2 / 4, 1 / 3]
    assert scorer.precision() == pytest.approx(precisions)
    assert scorer.score() == pytest.approx(100 * math.prod(precisions) ** 0.25)
    # A shorter translation is punished; a repeated word counts once.
    scorer.reset()
    scorer.add(ints(4, 5, 6, 7, 2), ints(4, 4, 2))
    assert scorer.precision()[0] == pytest.approx(1 / 2)
    assert scorer.brevity() == pytest.approx(math.exp(1 - 4 / 2))


def test_unknown_words_of_the_reference_match_nothing():
    scorer = Scorer(BleuConfig(pad=1, eos=2, unk=3))
    scorer.add(ints(3, 3, 2), ints(3, 3, 2))
    assert scorer.precision()[0] == 0
