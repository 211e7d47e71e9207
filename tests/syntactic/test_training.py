"""Training as a user does it: stopped and resumed, by two processes, and on with other languages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import registered
import torch

from fairseq_xl.encode.encoder import SentenceEncoder
from fairseq_xl.io.errors import InputError
from fairseq_xl.training import checkpoints

ROOT = Path(__file__).resolve().parent.parent.parent


def weights(folder: Path, name: str = "checkpoint_last.pt") -> dict[str, torch.Tensor]:
    return checkpoints.read(folder / name)["model"]


@pytest.mark.parametrize("workers", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_run_resumed_in_mid_epoch_ends_where_a_whole_one_does(
    upos_run, fairseq_train, upos_training, tmp_path, workers
):
    line = (
        f"{upos_run[0]} {upos_training} --sampling-temperature 3 --dropout 0.3 --max-epoch 2 "
        f"--save-interval-updates 5 --num-workers {workers} --save-dir "
    )
    fairseq_train(f"{line} {tmp_path}/whole")
    # 180 sentences in batches of 16: update 17 is the fifth of the second epoch.
    fairseq_train(f"{line} {tmp_path}/parts --max-update 17")
    assert checkpoints.updates(checkpoints.read(tmp_path / "parts" / "checkpoint_last.pt")) == 17
    fairseq_train(f"{line} {tmp_path}/parts")
    whole, parts = (weights(tmp_path / name) for name in ("whole", "parts"))
    assert checkpoints.updates(checkpoints.read(tmp_path / "parts" / "checkpoint_last.pt")) > 20
    for name, tensor in whole.items():
        assert torch.equal(tensor, parts[name]), name


@pytest.mark.parametrize("arch", registered.models("syntactic", presets=False))
def test_every_architecture_resumes_validates_and_is_averaged(
    arch, upos_run, upos_training, assert_every_command_works, tmp_path
):
    sizes = "--encoder-embed-dim 8 --encoder-cell-dim 8 --decoder-embed-dim 8 --decoder-cell-dim 8"
    assert_every_command_works(
        f"{upos_run[0]} {upos_training} --arch {arch} {sizes} --dropout 0.3 --batch-size 60", tmp_path
    )


def test_fine_tuning_knows_languages_by_name_and_trains_the_pairs_it_is_told(
    upos_run, prepare, fairseq_train, upos_training, tmp_path
):
    """Learnt: de, en, es as targets; now French sources, and a language list that begins with another one."""
    data = prepare("fr-en", "fr-es", "de-en", languages=("ca", "en", "es"))
    options = f"--finetune-from-model {upos_run[1]}/checkpoint_last.pt --lr 1e-30 --max-update 1"
    fairseq_train(f"{data} {upos_training} {options} --pairs fr-en,fr-es --save-dir {tmp_path}")
    old, new = weights(upos_run[1]), weights(tmp_path)
    key = "decoder.embed_language.weight"
    assert checkpoints.read(upos_run[1] / "checkpoint_last.pt")["model"][key].shape[0] == 3  # de, en, es
    assert torch.equal(new[key][1:], old[key][1:])
    assert not torch.equal(new[key][0], old[key][0])
    for name in old.keys() - {key, "decoder.embed_language.row_names"}:
        assert torch.equal(old[name], new[name]), name
    assert len(SentenceEncoder.load(tmp_path / "checkpoint_last.pt").task.pairs) == 2


@pytest.mark.slow
def test_fine_tuning_helps_the_new_language(upos_run, prepare, fairseq_train, upos_training, tmp_path):
    data = prepare("fr-en", "fr-es", train=(80,), seed=5)
    options = f"--finetune-from-model {upos_run[1]}/checkpoint_last.pt --sentences-per-pair 64 --max-epoch 4"
    fairseq_train(f"{data} {upos_training} {options} --save-dir {tmp_path}")
    first, last = (checkpoints.read(tmp_path / f"checkpoint{n}.pt")["extra_state"]["val_loss"] for n in (1, 4))
    assert last < first
    assert checkpoints.updates(checkpoints.read(tmp_path / "checkpoint_last.pt")) == 4 * 2 * 64 / 16


def test_a_recipes_fine_tuning_validates_four_times(
    upos_run, prepare, fairseq_train, upos_training, tmp_path, monkeypatch
):
    """The options that it gives validate after so many updates instead of after each epoch, and keep the best."""
    import fairseq_cli.train

    recipe = (ROOT / "recipes/lib/syntactic/model.sh").read_text()
    (options,) = re.findall(r"(--validate-interval 1000000) \\\n\s+(--save-interval .+)\n", recipe)
    line = " ".join(options).replace('"$quarter"', "2")
    validate, calls = fairseq_cli.train.validate, []

    def counted(*arguments):
        calls.append(arguments)
        return validate(*arguments)

    monkeypatch.setattr(fairseq_cli.train, "validate", counted)
    data = prepare("fr-en", train=(80,), seed=5)  # epochs of five updates
    start = f"--finetune-from-model {upos_run[1]}/checkpoint_last.pt --sentences-per-pair 80"
    fairseq_train(f"{data} {upos_training} {start} --max-update 8 --no-epoch-checkpoints {line} --save-dir {tmp_path}")
    assert len(calls) == 4
    assert checkpoints.updates(checkpoints.read(tmp_path / "checkpoint_last.pt")) == 8
    assert (tmp_path / "checkpoint_best.pt").is_file()


def test_fine_tuning_on_other_pieces_is_refused(upos_run, prepare, fairseq_train, upos_training, tmp_path):
    data = prepare("fr-en", words=("en", "fr"))
    options = f"--finetune-from-model {upos_run[1]}/checkpoint_last.pt --max-update 1"
    with pytest.raises(Exception, match=r".") as caught:  # fairseq's; the command shows the one behind it
        fairseq_train(f"{data} {upos_training} {options} --save-dir {tmp_path}")
    mistake = caught.value
    while not isinstance(mistake, InputError):
        mistake = mistake.__cause__ or mistake.__context__
    assert "another source dictionary" in str(mistake)


@pytest.mark.slow
def test_pieces_train_the_same_encoder(upos_run, fairseq_train, upos_training, tmp_path):
    options = "--target pieces --decoder-output-dim 6 --max-update 3"
    fairseq_train(f"{upos_run[0]} {upos_training} {options} --save-dir {tmp_path}")
    shapes = [{k: v.shape for k, v in weights(f).items() if "encoder" in k} for f in (tmp_path, upos_run[1])]
    assert shapes[0] == shapes[1]
    assert SentenceEncoder.load(tmp_path / "checkpoint_last.pt").encode(["the dog ."]).shape == (1, 32)


@pytest.mark.slow
def test_two_processes_do_what_one_does_with_batches_twice_as_many(
    upos_run, upos_training, assert_processes_do_as_one, tmp_path
):
    said = assert_processes_do_as_one(
        f"{upos_run[0]} {upos_training} --max-epoch 2 --sampling-temperature 2 --required-batch-size-multiple 1",
        tmp_path,
    )
    assert "accuracy_en-es" in said
