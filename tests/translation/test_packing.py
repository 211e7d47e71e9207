"""Packing a model into a folder."""

from __future__ import annotations

import json
import pickle
import shutil

import pytest
import torch
from safetensors.torch import load_file

from fairseq_xl import Translator
from fairseq_xl.cli import main as cli
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import WRITTEN

MODELS = ("continuous", "softmax", "stock")


def test_a_packed_model_holds_what_it_needs_and_no_more(work, packed):
    folder = packed / "continuous"
    assert {path.name for path in folder.iterdir()} == {
        *("translator.json", "model1.safetensors", "dict.de.txt", "dict.en.txt", "truecaser.de", WRITTEN)
    }
    config = (folder / "translator.json").read_text()
    assert "/" not in config
    assert json.loads(config)["options"] == {"beam": 5}
    weights = load_file(folder / "model1.safetensors")
    trained = torch.load(work / "continuous" / "checkpoint_last.pt", weights_only=True)
    assert trained["last_optimizer_state"]
    assert weights.keys() == trained["model"].keys()
    assert all(torch.equal(weights[name], x) for name, x in trained["model"].items())


def no_unpickling(*args, **kwargs):
    raise AssertionError("something was unpickled")


@pytest.mark.parametrize("name", [*MODELS, "both"])
def test_loading_unpickles_nothing(packed, raw, load, monkeypatch, name):
    expected = load(name).translate(raw[:3])
    for module, function in ((torch, "load"), (pickle, "load"), (pickle, "loads"), (pickle, "Unpickler")):
        monkeypatch.setattr(module, function, no_unpickling)
    assert load(name).translate(raw[:3]) == expected


def test_packing_again_replaces_and_a_failure_leaves_the_old_model(pack_model, tmp_path):
    output = tmp_path / "model"
    pack_model(output, "stock")
    pack_model(output, "stock", options={"beam": 2})
    assert Translator.load(output, "cpu").generator.beam_size == 2
    with pytest.raises(InputError, match="does not exist"):
        pack_model(output, "nothing")
    assert Translator.load(output, "cpu").generator.beam_size == 2
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize("name", MODELS)
def test_dictionaries_that_do_not_fit_are_refused(work, pack_model, tmp_path, name):
    (tmp_path / "bin").mkdir()
    for language in ("de", "en"):
        shutil.copy(work / "bin" / f"dict.{language}.txt", tmp_path / "bin")
    with (tmp_path / "bin" / "dict.en.txt").open("a") as stream:
        stream.write("more 1\n")
    with pytest.raises(InputError, match=r"target table has|another target dictionary than"):
        pack_model(tmp_path / "model", name, data=tmp_path / "bin")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("language", ["de", "en"])
def test_the_same_words_in_another_order_are_refused(work, pack_model, tmp_path, name, language):
    (tmp_path / "bin").mkdir()
    for each in ("de", "en"):
        shutil.copy(work / "bin" / f"dict.{each}.txt", tmp_path / "bin")
    path = tmp_path / "bin" / f"dict.{language}.txt"
    path.write_text("".join(reversed(path.read_text().splitlines(keepends=True))))
    side = "source" if language == "de" else "target"
    with pytest.raises(InputError, match=f"with another {side} dictionary than|made for another dictionary"):
        pack_model(tmp_path / "model", name, data=tmp_path / "bin")
    assert not (tmp_path / "model").exists()


def with_settings(work, folder, section, **values):
    """The stock model's checkpoint with other settings."""
    state = torch.load(work / "stock" / "checkpoint_last.pt", weights_only=True)
    settings = state["cfg"][section]
    (settings if isinstance(settings, dict) else vars(settings)).update(values)
    folder.mkdir()
    torch.save(state, folder / "checkpoint_last.pt")
    return str(folder)


def test_a_checkpoint_reads_nothing_outside_its_folder(work, pack_model, tmp_path):
    """Neither variables of the machine nor the files that the training began with."""
    output = tmp_path / "packed"
    for section, values in (("task", {"nearest_index": "${oc.env:HOME}"}), ("model", {"arch": "x${oc.env:HOME}"})):
        asking = with_settings(work, tmp_path / section, section, **values)
        with pytest.raises(InputError, match=r"was refused: its configuration asks for `x?\$\{oc\.env:HOME\}`"):
            pack_model(output, asking)
        assert not output.exists()
    gone = str(tmp_path / "gone")
    began = with_settings(work, tmp_path / "began", "model", encoder_embed_path=gone, decoder_embed_path=gone)
    pack_model(output, began)
    indexed = with_settings(work, tmp_path / "indexed", "task", nearest_index=gone)
    pack_model(output, indexed)
    assert Translator.load(output, "cpu").task.cfg.nearest_index is None


def test_what_cannot_be_packed_is_refused(work, pack_model, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine").touch()
    with pytest.raises(InputError, match="holds something else than a model"):
        pack_model(tmp_path / "notes", "stock")
    assert (tmp_path / "notes" / "mine").exists()
    output = tmp_path / "model"
    with pytest.raises(InputError, match="there is no subword model"):
        pack_model(output, "stock", subwords=tmp_path / "gone")
    with pytest.raises(InputError, match="there is no truecaser"):
        pack_model(output, "stock", truecaser=tmp_path / "gone")
    told = with_settings(work, tmp_path / "told", "task", source_lang="de", target_lang="en")
    with pytest.raises(InputError, match="translates from de to en, not from en to de: exchange --source-lang and"):
        pack_model(output, told, source_lang="en", target_lang="de")
    with pytest.raises(InputError, match="trained with another source dictionary"):
        pack_model(output, "stock", source_lang="en", target_lang="de")
    with pytest.raises(InputError, match="there is no dictionary"):
        pack_model(output, "stock", data=tmp_path)
    with pytest.raises(InputError, match="nearest_effort says what nearest does if it is hnsw or ivf: give that, too"):
        pack_model(output, "stock", options={"nearest_effort": 2.0})
    with pytest.raises(InputError, match="lexicon names what is not in the folder"):
        pack_model(output, "stock", options={"replace_unk": True, "lexicon": "words"})
    state = torch.load(work / "stock" / "checkpoint_last.pt", weights_only=True)
    state["cfg"]["task"]["_name"] = "language_modeling"
    (tmp_path / "other").mkdir()
    torch.save(state, tmp_path / "other" / "checkpoint_last.pt")
    with pytest.raises(InputError, match="not trained by --task translation"):
        pack_model(output, str(tmp_path / "other"))
    assert not output.exists()


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_are_refused(work, pack_model, tmp_path, value):
    state = torch.load(work / "stock" / "checkpoint_last.pt", weights_only=True)
    state["model"]["decoder.embed_tokens.weight"][3, 2] = value
    (tmp_path / "diverged").mkdir()
    torch.save(state, tmp_path / "diverged" / "checkpoint_last.pt")
    with pytest.raises(InputError, match=r"weights decoder\.embed_tokens\.weight in .* hold NaN or infinity"):
        pack_model(tmp_path / "model", str(tmp_path / "diverged"))
    assert not (tmp_path / "model").exists()


def test_the_pack_command(work, tmp_path, capsys):
    checkpoint, output = work / "stock" / "checkpoint_last.pt", tmp_path / "model"
    words = ["translate", "pack", checkpoint, "--data", work / "bin", "-s", "de", "-t", "en", "--output", output]
    words += ["--truecaser", work / "truecaser.de", "--beam", 3, "--lenpen", 0.8]
    assert cli.main([str(word) for word in words]) == 0
    assert capsys.readouterr().out == f"translate with: fairseq-xl translate text {output} --input FILE\n"
    assert json.loads((output / "translator.json").read_text())["options"] == {"beam": 3, "lenpen": 0.8}


def test_a_model_card_goes_with_it(pack_model, tmp_path):
    output = tmp_path / "model"
    record = tmp_path / "record.json"
    record.write_text(json.dumps({"scores": {"test": {"beam5": {"BLEU": {"score": 30.1, "signature": "nrefs:1"}}}}}))
    with pytest.raises(InputError, match="a model card states a licence"):
        pack_model(output, "stock", record=record)
    assert not output.exists()
    pack_model(output, "stock", record=record, licence="cc-by-4.0")
    text = (output / "README.md").read_text(encoding="utf-8")
    assert text.startswith("---\nlicense: cc-by-4.0\nlanguage:\n- de\n- en\n")
    assert "| test | beam 5 | BLEU | 30.1 | `nrefs:1` |" in text
    assert Translator.load(output, "cpu").translate([""]) == [""]
