"""The task: shards, files that do not fit, and text."""

from __future__ import annotations

import json
import shutil

import pytest
import torch
from omegaconf import OmegaConf

from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.models.config import UposTranslationConfig
from fairseq_xl.syntactic.models.task import UposTranslationTask

from .conftest import batches


def setup(folder, **options):
    cfg = OmegaConf.merge(OmegaConf.structured(UposTranslationConfig), {"data": str(folder), "seed": 1, **options})
    return UposTranslationTask.setup_task(cfg)


@pytest.mark.parametrize("temperature", [1.0, 4.0])
def test_shards_do_not_overlap_and_epochs_are_repeatable(upos_run, temperature):
    def ids(**options):
        task = setup(upos_run[0], sampling_temperature=temperature)
        task.load_dataset("train")
        return [i for batch in batches(task, "train", **options) if batch for i in batch["id"].tolist()]

    whole = ids(epoch=3)
    shards = [ids(epoch=3, num_shards=2, shard_id=shard) for shard in (0, 1)]
    assert sorted(shards[0] + shards[1]) == sorted(whole)
    assert whole == ids(epoch=3)
    assert whole != ids(epoch=4)
    if temperature == 1:
        assert not set(shards[0]) & set(shards[1])
        assert sorted(whole) == list(range(180))


def test_workers_read_the_same_batches(upos_run):
    task = setup(upos_run[0], sampling_temperature=2.0)
    task.load_dataset("train")
    alone, helped = (batches(task, "train", epoch=2, num_workers=n) for n in (0, 2))
    for one, other in zip(alone, helped, strict=True):
        assert torch.equal(one["id"], other["id"])
        assert torch.equal(one["target"], other["target"])


def test_pieces_of_the_translation_can_be_the_target(upos_run):
    task = setup(upos_run[0], target="pieces")
    task.load_dataset("valid")
    assert task.target_dictionary == task.source_dictionary
    batch = batches(task, "valid")[0]
    text = task.target_dictionary.string(batch["target"][0])
    assert text.startswith("▁")


def test_text_becomes_what_the_data_holds(upos_run):
    task = setup(upos_run[0])
    task.load_dataset("valid")
    batch = batches(task, "valid")[0]
    pieces = batch["net_input"]["src_tokens"][0]
    pieces = pieces[pieces.ne(1)]
    text = task.source_dictionary.string(pieces).replace(" ", "").replace("▁", " ").strip()
    assert task.encode_text(f"  {text.replace(' ', '   ')} ").tolist() == pieces.tolist()
    assert len(task.encode_text(" \t ")) == 0
    hidden = "\ufeff" + text[:1] + "\u00ad" + text[1:] + "\u200b\x07"
    assert task.encode_text(hidden).tolist() == pieces.tolist(), "the corpus has no such characters"
    assert len(task.encode_text("\u200b")) == 0
    decomposed, composed = "e\u0301", "\u00e9"
    assert task.encode_text(decomposed).tolist() == task.encode_text(composed).tolist()
    assert set(task.encode_text("</s> <pad>").tolist()[:-1]) & {0, 1, 2} == set()


def test_a_share_of_own_tags_needs_pairs_of_both_kinds(upos_run):
    task = setup(upos_run[0], own_share=0.5)
    task.load_dataset("valid")
    with pytest.raises(InputError, match="--own-share needs pairs of two languages and pairs of a language with itse"):
        task.load_dataset("train")


@pytest.fixture
def copy(upos_run, tmp_path):
    return shutil.copytree(upos_run[0], tmp_path / "data")


def test_files_that_do_not_fit_are_refused(copy):
    (copy / "valid.de-en.upos.idx").unlink()
    with pytest.raises(InputError, match=r"there is no .*valid\.de-en\.upos\.idx"):
        setup(copy).load_dataset("valid")
    for ending in ("bin", "idx"):
        shutil.copy(copy / f"train.de-en.upos.{ending}", copy / f"valid.de-en.upos.{ending}")
    with pytest.raises(InputError, match=r"have 12 and 60 sentences, and manifest.json says 12"):
        setup(copy).load_dataset("valid")
    with pytest.raises(InputError, match=r"there is no .*test\.de-en\.source\.idx"):
        setup(copy).load_dataset("test")


def test_pairs_without_sentences_are_passed_over(copy):
    values = json.loads((copy / "manifest.json").read_text())
    for entry in values["pairs"][1:]:
        entry["valid"] = 0
    (copy / "manifest.json").write_text(json.dumps(values))
    task = setup(copy)
    task.load_dataset("valid")
    assert len(task.dataset("valid")) == 12
    values["pairs"][0]["valid"] = 0
    (copy / "manifest.json").write_text(json.dumps(values))
    with pytest.raises(InputError, match=r"no pair in .* has sentences of 'valid'"):
        setup(copy).load_dataset("valid")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sampling_temperature": 0.0}, "--sampling-temperature is 0.0: give a number above 0"),
        ({"sampling_temperature": float("nan")}, "--sampling-temperature is nan: give a number above 0"),
        ({"sentences_per_pair": -1}, "--sentences-per-pair is -1"),
        ({"own_share": 1.0}, "--own-share is 1.0: give a number between 0 and 1"),
        ({"pairs": "de-en,xx-en"}, "there is no pair 'xx-en'"),
    ],
)
def test_options_that_cannot_be_are_refused(upos_run, options, message):
    with pytest.raises(InputError, match=message):
        setup(upos_run[0], **options)


def test_an_infinite_temperature_gives_every_pair_the_same_share(upos_run):
    task = setup(upos_run[0], sampling_temperature=float("inf"))
    task.load_dataset("train")
    pairs = torch.cat([batch["pair"] for batch in batches(task, "train")])
    assert len(set(pairs.bincount().tolist())) == 1


def test_a_task_without_a_folder_is_refused():
    with pytest.raises(InputError, match="name the folder that `fairseq-xl embed prepare` made"):
        UposTranslationTask.setup_task(OmegaConf.structured(UposTranslationConfig))


def test_a_best_checkpoint_can_be_chosen_by_the_mean(prepare, fairseq_train, upos_training, tmp_path):
    data = prepare("de-en", "en-de", train=(32,))
    best = "--best-checkpoint-metric mean_accuracy --maximize-best-checkpoint-metric"
    fairseq_train(f"{data} {upos_training} {best} --max-epoch 1 --save-dir {tmp_path}")
    state = torch.load(tmp_path / "checkpoint_best.pt", weights_only=True)
    assert 0 < state["extra_state"]["best"] <= 100
