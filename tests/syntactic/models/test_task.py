"""The task: figures by pair, shards, files that do not fit, and text."""

from __future__ import annotations

import json
import shutil

import pytest
import torch
from fairseq.logging import metrics
from omegaconf import OmegaConf

from fairseq_xl.encode.encoder import load_model
from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.models.config import UposTranslationConfig
from fairseq_xl.syntactic.models.criterion import UposCrossEntropy
from fairseq_xl.syntactic.models.task import UposTranslationTask


def setup(folder, **options):
    cfg = OmegaConf.merge(OmegaConf.structured(UposTranslationConfig), {"data": str(folder), "seed": 1, **options})
    return UposTranslationTask.setup_task(cfg)


def batches(task, split, epoch=1, **options):
    iterator = task.get_batch_iterator(
        task.dataset(split), max_sentences=16, max_positions=(1024, 1024), seed=1, epoch=epoch, **options
    )
    return list(iterator.next_epoch_itr(shuffle=split == "train"))


@pytest.fixture(scope="module")
def run(upos_run):
    data, saved = upos_run
    task, model = load_model(saved / "checkpoint_last.pt", data)
    return task, model.eval()


def test_figures_of_each_pair_are_those_of_its_sentences(run):
    task, model = run
    task.load_dataset("valid")
    criterion = UposCrossEntropy(task, sentence_avg=False)
    wanted = {}
    logs = []
    with torch.no_grad():
        for sample in batches(task, "valid"):
            logs.append(criterion(model, sample)[2])
            chances = model(**sample["net_input"])[0].log_softmax(-1)
            for row, pair in enumerate(sample["pair"].tolist()):
                tags = sample["target"][row]
                for step in range(int(tags.ne(1).sum())):
                    right, lost, count = wanted.get(pair, (0, 0.0, 0))
                    right += int(chances[row, step].argmax() == tags[step])
                    wanted[pair] = right, lost - float(chances[row, step, tags[step]]), count + 1
    with metrics.aggregate(new_root=True) as found:
        for log in logs:
            task.reduce_metrics([log], criterion)
    values = found.get_smoothed_values()
    names = [str(pair) for pair in task.pairs]
    assert names == ["de-en", "en-de", "en-es"]
    accuracies = [100 * wanted[i][0] / wanted[i][2] for i in range(3)]
    losses = [wanted[i][1] / wanted[i][2] / 0.693147181 for i in range(3)]
    for name, accuracy, loss in zip(names, accuracies, losses, strict=True):
        assert values[f"accuracy_{name}"] == pytest.approx(accuracy, abs=2e-3)
        assert values[f"loss_{name}"] == pytest.approx(loss, abs=2e-3)
    assert values["mean_accuracy"] == pytest.approx(sum(accuracies) / 3, abs=2e-3)
    assert values["mean_loss"] == pytest.approx(sum(losses) / 3, abs=2e-3)
    total = sum(w[0] for w in wanted.values()) / sum(w[2] for w in wanted.values())
    assert values["accuracy"] == pytest.approx(100 * total, abs=2e-3)
    assert max(accuracies) > 30  # it has learnt something, so that the figures differ
    assert len(set(accuracies)) > 1


def test_training_logs_no_figures_of_pairs(run):
    task, model = run
    task.load_dataset("valid")
    model.train()
    _, _, log = UposCrossEntropy(task, False)(model, batches(task, "valid")[0])
    model.eval()
    assert set(log) == {"loss", "ntokens", "nsentences", "sample_size"}


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
    decomposed, composed = "e\u0301", "\u00e9"
    assert task.encode_text(decomposed).tolist() == task.encode_text(composed).tolist()
    assert set(task.encode_text("</s> <pad>").tolist()[:-1]) & {0, 1, 2} == set()


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
        ({"sentences_per_pair": -1}, "--sentences-per-pair is -1"),
        ({"pairs": "de-en,xx-en"}, "there is no pair 'xx-en'"),
    ],
)
def test_options_that_cannot_be_are_refused(upos_run, options, message):
    with pytest.raises(InputError, match=message):
        setup(upos_run[0], **options)


def test_a_task_without_a_folder_is_refused():
    with pytest.raises(InputError, match="name the folder that `fairseq-xl embed prepare` made"):
        UposTranslationTask.setup_task(OmegaConf.structured(UposTranslationConfig))


def test_a_best_checkpoint_can_be_chosen_by_the_mean(prepare, fairseq_train, upos_training, tmp_path):
    data = prepare("de-en", "en-de", train=(32,))
    best = "--best-checkpoint-metric mean_accuracy --maximize-best-checkpoint-metric"
    fairseq_train(f"{data} {upos_training} {best} --max-epoch 1 --save-dir {tmp_path}")
    state = torch.load(tmp_path / "checkpoint_best.pt", weights_only=True)
    assert 0 < state["extra_state"]["best"] <= 100
