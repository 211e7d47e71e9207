"""What fairseq's own commands promise of fairseq's own models holds on this stack, with the plugin loaded."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path

import fairseq_cli.eval_lm
import fairseq_cli.score
import fairseq_cli.validate
import in_process
import parallel_text
import pytest
import torch
from fairseq import options
from fairseq.dataclass.utils import convert_namespace_to_omegaconf

from fairseq_xl.training import checkpoints

pytestmark = pytest.mark.slow

DIM = "--encoder-embed-dim 8 --decoder-embed-dim 8 "
ATTENTION = DIM + (
    "--encoder-layers 2 --decoder-layers 2 --encoder-ffn-embed-dim 8 --decoder-ffn-embed-dim 8 "
    "--encoder-attention-heads 2 --decoder-attention-heads 2 "
)
CONVOLUTION = ATTENTION + "--encoder-conv-dim 8 --decoder-conv-dim 8 --encoder-kernel-size-list [3,3] "
LSTM = DIM + "--encoder-hidden-size 8 --decoder-hidden-size 8 --decoder-out-embed-dim 8 "
MODELS = {
    "lstm": f"lstm {LSTM}",
    "lstm-bidirectional": f"lstm {LSTM} --encoder-bidirectional",
    "transformer": f"transformer_iwslt_de_en {ATTENTION}",
    "transformer-checkpointing": f"transformer_iwslt_de_en {ATTENTION} --checkpoint-activations",
    "transformer-shared": f"transformer_iwslt_de_en {ATTENTION} --share-decoder-input-output-embed",
    "transformer-layerdrop": f"transformer_iwslt_de_en {ATTENTION} --encoder-layerdrop 0.5 --decoder-layerdrop 0.5",
    "fconv": f"fconv_iwslt_de_en {DIM} --decoder-out-embed-dim 8 --encoder-layers [(8,3)] --decoder-layers [(8,3)]",
    "lightconv": f"lightconv_iwslt_de_en {CONVOLUTION} --decoder-kernel-size-list [3,3] "
    "--encoder-conv-type lightweight --decoder-conv-type lightweight",
    "dynamicconv": f"lightconv_iwslt_de_en {CONVOLUTION} --decoder-kernel-size-list [3,3] "
    "--encoder-conv-type dynamic --decoder-conv-type dynamic",
}
TRAIN = (
    "--optimizer adam --lr 0.01 --max-tokens 100 --required-batch-size-multiple 1 --num-workers 0 --seed 1 "
    "--no-progress-bar --cpu "
)


def parsed(parser, line: str):
    return convert_namespace_to_omegaconf(options.parse_args_and_arch(parser, shlex.split(line)))


def updates(folder: Path) -> int:
    return checkpoints.updates(checkpoints.read(folder / "checkpoint_last.pt"))


@pytest.mark.parametrize("model", MODELS)
def test_every_model_trains_validates_and_translates(model, command, corpus, capsys, tmp_path):
    command("train", f"{corpus} --arch {MODELS[model]} {TRAIN} --max-epoch 2 --update-freq 2 --save-dir {tmp_path}")
    path = tmp_path / "checkpoint_last.pt"
    assert updates(tmp_path) > 2
    line = f"{corpus} --task translation --path {path} --valid-subset test --batch-size 4 --num-workers 0 --cpu"
    fairseq_cli.validate.main(parsed(options.get_validation_parser(), line))
    for search in ("--beam 1", "--beam 3 --lenpen 0.5 --print-alignment", "--sampling --beam 2 --nbest 2 --seed 1"):
        capsys.readouterr()
        command("generate", f"{corpus} --path {path} --max-len-b 6 --num-workers 0 --cpu {search}")
        found = re.findall(r"^H-(\d+)\t", capsys.readouterr().out, re.MULTILINE)
        assert sorted(set(map(int, found))) == list(range(10))
    command("generate", f"{corpus} --path {path}:{path} --max-len-b 6 --num-workers 0 --cpu --score-reference")
    (typed := tmp_path / "typed.txt").write_text("der Hund malt\n")
    command("interactive", f"{corpus} --path {path} --input {typed} --max-len-b 6 --cpu")
    assert "H-0\t" in capsys.readouterr().out


LANGUAGE_MODELS = {
    "lstm_lm": "lstm_lm --decoder-hidden-size 8 --decoder-out-embed-dim 8 --decoder-embed-dim 8",
    "transformer_lm": "transformer_lm --decoder-ffn-embed-dim 8 --decoder-layers 1 --decoder-attention-heads 1 "
    "--decoder-embed-dim 8",
}


def assert_equal_weights(one: Path, other: Path, **tolerance: float) -> None:
    weights = [checkpoints.read(folder / "checkpoint_last.pt")["model"] for folder in (one, other)]
    assert weights[0].keys() == weights[1].keys()
    for name, tensor in weights[0].items():
        torch.testing.assert_close(tensor, weights[1][name], **{"rtol": 0, "atol": 0, **tolerance}, msg=name)


def assert_it_resumes(train, line: str, folder: Path) -> None:
    """Stopped in the second epoch, it ends where it would have."""
    line += f" {TRAIN.replace('100', '300')} --max-epoch 2 --save-dir {folder}"
    train(f"{line}/whole")
    train(f"{line}/parts --max-update {updates(folder / 'whole') - 1}")
    train(f"{line}/parts")
    assert_equal_weights(folder / "whole", folder / "parts")


def test_a_transformer_with_smoothed_labels_resumes(corpus, fairseq_train, tmp_path):
    smoothed = "--criterion label_smoothed_cross_entropy --label-smoothing 0.1"
    assert_it_resumes(fairseq_train, f"{corpus} --arch {MODELS['transformer']} --dropout 0.3 {smoothed}", tmp_path)
    config = checkpoints.read(tmp_path / "whole" / "checkpoint_last.pt")["cfg"]
    assert config["criterion"]["label_smoothing"] == 0.1


def test_a_language_model_resumes(monolingual, fairseq_train, tmp_path):
    model = f"--arch {LANGUAGE_MODELS['transformer_lm']} --dropout 0.3"
    line = f"{monolingual} --task language_modeling --sample-break-mode eos {model}"
    assert_it_resumes(fairseq_train, line, tmp_path)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("--batch-size 20 --dropout 0.3", "--batch-size 20 --dropout 0.3 --checkpoint-activations"),
        ("--batch-size 20 --dropout 0", "--batch-size 10 --dropout 0 --update-freq 2"),
    ],
    ids=["checkpointing", "update-freq"],
)
def test_what_saves_memory_trains_alike(one, other, corpus, fairseq_train, tmp_path):
    """In order of length, not shuffled, so that each batch of 20 is two of 10."""
    train = TRAIN.replace("adam --lr 0.01 --max-tokens 100", "sgd --lr 0.5 --curriculum 9 --max-update 3")
    folders = [tmp_path / name for name in ("one", "other")]
    for folder, batches in zip(folders, (one, other), strict=True):
        fairseq_train(f"{corpus} --arch {MODELS['transformer']} {train} {batches} --save-dir {folder}")
    assert [updates(folder) for folder in folders] == [3, 3]
    assert_equal_weights(*folders, rtol=1e-4, atol=1e-5)
    losses = [checkpoints.read(folder / "checkpoint_last.pt")["extra_state"]["val_loss"] for folder in folders]
    assert losses[0] == pytest.approx(losses[1], abs=2e-3)


@pytest.mark.parametrize(
    "optimizer",
    [
        "adadelta",
        "adafactor",
        "adagrad",
        "adam --weight-decay 0.1 --adam-betas (0.9,0.98)",
        "adamax",
        "nag",
        "sgd --momentum 0.9",
    ],
)
def test_optimisers(optimizer, command, corpus, tmp_path):
    train = TRAIN.replace("adam", optimizer)
    command("train", f"{corpus} --arch {MODELS['lstm']} {train} --max-update 3 --save-dir {tmp_path}")
    assert updates(tmp_path) == 3


@pytest.mark.parametrize(
    "scheduler",
    [
        "fixed --force-anneal 1 --lr-shrink 0.5",
        "inverse_sqrt --warmup-updates 2",
        "polynomial_decay --total-num-update 9",
        "cosine --warmup-updates 2 --max-update 9",
        "reduce_lr_on_plateau",
        "triangular --max-lr 0.1 --lr-period-updates 4",
        "tri_stage --phase-ratio [0.1,0.4,0.5] --max-update 9",
    ],
)
def test_schedules(scheduler, command, corpus, tmp_path):
    limit = "" if "--max-update" in scheduler else "--max-epoch 2"
    command(
        "train", f"{corpus} --arch {MODELS['lstm']} {TRAIN} --lr-scheduler {scheduler} {limit} --save-dir {tmp_path}"
    )
    assert updates(tmp_path) > 2


@pytest.fixture(scope="module")
def text(tmp_path_factory) -> Path:
    """Sentences as text, with word alignments of every pair."""
    folder = tmp_path_factory.mktemp("contract")
    pairs = [("der Hund sieht das Haus", "the dog sees the house"), ("die Frau malt", "the woman paints")] * 15
    for part, some in (("train", pairs), ("valid", pairs[:4]), ("test", pairs[:4])):
        parallel_text.write(folder, **{part: some})
        links = (" ".join(f"{n}-{n}" for n in range(len(pair[0].split()))) for pair in some)
        (folder / f"{part}.align").write_text("".join(line + "\n" for line in links))
    return folder


def test_raw_data(text, command, capsys, tmp_path):
    files = f"--trainpref {text}/train --validpref {text}/valid --testpref {text}/test"
    in_process.preprocess(f"-s de -t en {files} --destdir {tmp_path}/raw --dataset-impl raw --workers 1")
    raw = f"{tmp_path}/raw --dataset-impl raw"
    command("train", f"{raw} --arch {MODELS['lstm']} {TRAIN} --max-update 3 --save-dir {tmp_path}/out")
    command("generate", f"{raw} --path {tmp_path}/out/checkpoint_last.pt --max-len-b 6 --num-workers 0 --cpu")
    assert len(re.findall(r"^H-", capsys.readouterr().out, re.MULTILINE)) == 4


def test_alignments_are_learnt(text, command, capsys, tmp_path):
    files = f"--trainpref {text}/train --validpref {text}/valid --testpref {text}/test --align-suffix align"
    in_process.preprocess(f"-s de -t en {files} --destdir {tmp_path}/bin --joined-dictionary --workers 1")
    command(
        "train",
        f"{tmp_path}/bin --arch transformer_align {ATTENTION} {TRAIN} --load-alignments --alignment-layer 1 "
        "--alignment-heads 1 --criterion label_smoothed_cross_entropy_with_alignment --max-epoch 2 "
        f"--save-dir {tmp_path}/out",
    )
    command(
        "generate",
        f"{tmp_path}/bin --path {tmp_path}/out/checkpoint_last.pt --max-len-b 6 --num-workers 0 --cpu "
        "--print-alignment hard",
    )
    assert len(re.findall(r"^A-\d+\t\d+-\d+", capsys.readouterr().out, re.MULTILINE)) > 0


def test_long_sentences_are_refused_or_left_out(command, corpus, tmp_path):
    short = f"{corpus} --arch {MODELS['transformer']} {TRAIN} --max-source-positions 6 --max-target-positions 6"
    with pytest.raises(Exception, match="skip this example with --skip-invalid-size-inputs-valid-test"):
        command("train", f"{short} --max-update 1 --save-dir {tmp_path}/refused")
    command("train", f"{short} --max-update 2 --skip-invalid-size-inputs-valid-test --save-dir {tmp_path}/left-out")
    assert updates(tmp_path / "left-out") == 2


@pytest.fixture(scope="module")
def monolingual(text, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("monolingual")
    for part in ("train", "valid", "test"):
        shutil.copyfile(text / f"{part}.en", folder / part)
    files = f"--trainpref {folder}/train --validpref {folder}/valid --testpref {folder}/test"
    in_process.preprocess(f"--only-source {files} --destdir {folder}/bin --workers 1")
    return folder / "bin"


@pytest.mark.parametrize("blocks", ["none", "complete", "eos"])
@pytest.mark.parametrize("model", LANGUAGE_MODELS)
def test_language_models(model, blocks, command, monolingual, caplog, tmp_path):
    line = f"{monolingual} --task language_modeling --sample-break-mode {blocks} --tokens-per-sample 12"
    command("train", f"{line} --arch {LANGUAGE_MODELS[model]} {TRAIN} --max-epoch 2 --save-dir {tmp_path}")
    path = tmp_path / "checkpoint_last.pt"
    caplog.set_level("INFO")
    fairseq_cli.eval_lm.main(
        parsed(options.get_eval_lm_parser(), f"{line} --path {path} --gen-subset test --num-workers 0 --cpu")
    )
    assert re.search(r"Loss \(base 2\): \d+\.\d+, Perplexity: \d+", caplog.text)


def test_translation_with_a_masked_dictionary(command, corpus, capsys, tmp_path):
    line = f"{corpus} --task translation_from_pretrained_xlm"
    command("train", f"{line} --arch {MODELS['transformer']} {TRAIN} --max-update 2 --save-dir {tmp_path}")
    path = tmp_path / "checkpoint_last.pt"
    assert updates(tmp_path) == 2
    capsys.readouterr()
    command("generate", f"{line} --path {path} --max-len-b 6 --num-workers 0 --cpu")
    assert len(re.findall(r"^H-", capsys.readouterr().out, re.MULTILINE)) == 10


def test_cross_lingual_language_model(command, monolingual, tmp_path):
    """Masked words in blocks of one language, with the dictionary of masked language models."""
    for part in ("train", "valid"):
        for ending in ("bin", "idx"):
            shutil.copyfile(monolingual / f"{part}.{ending}", tmp_path / f"{part}.en.{ending}")
    shutil.copyfile(monolingual / "dict.txt", tmp_path / "dict.txt")
    command(
        "train",
        f"{tmp_path} --task cross_lingual_lm --monolingual-langs en --tokens-per-sample 12 --arch xlm_base "
        "--encoder-embed-dim 8 --encoder-ffn-embed-dim 8 --encoder-layers 1 --encoder-attention-heads 1 "
        "--criterion legacy_masked_lm_loss --masked-lm-only --num-segment 2 "
        f"{TRAIN} --max-update 2 --save-dir {tmp_path}/out",
    )
    assert updates(tmp_path / "out") == 2


def test_scores_of_files(text, capsys, monkeypatch):
    files = ["--sys", f"{text}/test.en", "--ref", f"{text}/test.en"]
    monkeypatch.setattr(sys, "argv", ["fairseq-score", *files])
    fairseq_cli.score.cli_main()
    assert "BLEU4 = 100.00" in capsys.readouterr().out


@pytest.mark.parametrize("model", ["lstm", "transformer"])
def test_models_are_scripted(model, corpus):
    """As by fairseq's own tests/test_export.py."""
    from fairseq import tasks

    cfg = parsed(options.get_training_parser(), f"{corpus} --arch {MODELS[model]} {TRAIN}")
    task = tasks.setup_task(cfg.task)
    made = task.build_model(cfg.model).eval()
    scripted = torch.jit.script(made)
    source = torch.tensor([[5, 6, 7, task.source_dictionary.eos()]])
    given = (source, torch.tensor([4]), torch.tensor([[2, 5, 6]]))
    assert torch.allclose(made(*given)[0], scripted(*given)[0], atol=1e-6)


def test_masked_language_models_load_their_dictionary(monolingual):
    from fairseq.data.legacy.masked_lm_dictionary import BertDictionary, MaskedLMDictionary

    for kind in (MaskedLMDictionary, BertDictionary):
        made = kind.load(str(monolingual / "dict.txt"))
        assert made[made.mask()] == "<mask>"
        assert "dog" in made
