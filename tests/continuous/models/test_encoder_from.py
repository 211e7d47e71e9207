"""--encoder-from: the weights arrive, only when a training starts, and what does not fit is named."""

from argparse import Namespace
from types import SimpleNamespace

import pytest
import torch
from fairseq.models import build_model
from fairseq.models.transformer import TransformerModel
from omegaconf import OmegaConf

from fairseq_xl.continuous.models.config import TinyConfig
from fairseq_xl.continuous.models.lstm import ContinuousLSTM
from fairseq_xl.io.errors import InputError

SIZES = {"embed_dim": 32, "ffn_embed_dim": 64, "layers": 2, "attention_heads": 2}
SOURCE = torch.tensor([[5, 6, 7, 8, 2], [9, 4, 2, 1, 1]])


@pytest.fixture
def vectors(write_vectors):
    return write_vectors(13, 6)


def stock(task, path, data=None, **options):
    """The checkpoint of an untrained stock Transformer, as fairseq-train would write it."""
    args = Namespace(arch="transformer", _name="transformer")
    for name, value in {**{f"encoder_{n}": v for n, v in SIZES.items()}, **options}.items():
        setattr(args, name, value)
    args.decoder_layers, args.decoder_attention_heads = 1, 2
    torch.manual_seed(7)
    model = TransformerModel.build_model(args, task)
    settings = {"model": args, "task": {"data": data, "source_lang": "de"}}
    torch.save({"model": model.state_dict(), "cfg": settings}, path)
    return model


def run_config(vectors, folder, **options):
    """A run as fairseq-train and fairseq-hydra-train hold it, of which build_model is given the model."""
    model = {"_name": "continuous_transformer_tiny", "target_vectors": vectors, **options}
    checkpoint = {"save_dir": str(folder), "restore_file": "checkpoint_last.pt"}
    return OmegaConf.create({"model": model, "checkpoint": checkpoint})


def states(model):
    return model.eval().encoder(SOURCE)["encoder_out"][0]


def test_the_encoder_is_the_stock_models(task, vectors, tmp_path):
    theirs = stock(task, tmp_path / "stock.pt")
    run = run_config(vectors, tmp_path, encoder_from=str(tmp_path / "stock.pt"))
    ours = build_model(run.model, task)
    assert torch.allclose(states(ours), states(theirs), atol=1e-6)
    assert not torch.allclose(states(build_model(run_config(vectors, tmp_path).model, task)), states(theirs))


def test_words_are_compared_where_the_training_data_is_still_there(task, vectors, tmp_path, caplog):
    run = run_config(vectors, tmp_path, encoder_from=str(tmp_path / "stock.pt"))
    stock(task, tmp_path / "stock.pt", data=str(tmp_path / "gone"))
    build_model(run.model, task)
    assert f"no {tmp_path}/gone/dict.de.txt to compare words with" in caplog.text
    stock(task, tmp_path / "stock.pt")
    build_model(run_config(vectors, tmp_path, encoder_from=str(tmp_path / "stock.pt")).model, task)
    assert "no data folder named in it to compare words with" in caplog.text
    caplog.clear()
    words = tmp_path / "bin" / "dict.de.txt"
    words.parent.mkdir()
    task.source_dictionary.save(str(words))
    stock(task, tmp_path / "stock.pt", data=str(words.parent))
    build_model(run_config(vectors, tmp_path, encoder_from=str(tmp_path / "stock.pt")).model, task)
    assert "to compare words with" not in caplog.text
    words.write_text("".join(sorted(words.read_text().splitlines(keepends=True), reverse=True)))
    with pytest.raises(InputError, match=r"dict\.de\.txt, and this data has others: preprocess the data with that"):
        build_model(run_config(vectors, tmp_path, encoder_from=str(tmp_path / "stock.pt")).model, task)


def test_half_precision_and_older_checkpoints_are_read(task, vectors, tmp_path):
    theirs = stock(task, tmp_path / "stock.pt").half()
    args = Namespace(**{f"encoder_{n}": v for n, v in SIZES.items()})
    state = {**theirs.state_dict(), "encoder.embed_positions._float_tensor": torch.zeros(1)}
    torch.save({"model": state, "args": args}, tmp_path / "old.pt")
    ours = build_model(run_config(vectors, tmp_path, encoder_from=str(tmp_path / "old.pt")).model, task)
    assert torch.allclose(states(ours), states(theirs.float()), atol=5e-3)


def test_one_of_ours_serves_as_well_and_a_softmax_takes_it(task, vectors, tmp_path):
    first = run_config(vectors, tmp_path)
    ours = build_model(first.model, task)
    torch.save({"model": ours.state_dict(), "cfg": OmegaConf.to_container(first)}, tmp_path / "ours.pt")
    options = {"encoder_from": str(tmp_path / "ours.pt"), "decoder_output": "softmax"}
    again = run_config(None, tmp_path, **options)
    assert torch.equal(states(build_model(again.model, task)), states(ours))
    assert again.model.targets_in_checkpoint


@pytest.mark.parametrize("output", ["continuous", "softmax"])
def test_a_checkpoint_needs_neither_file_again(task, vectors, tmp_path, output):
    stock(task, tmp_path / "stock.pt")
    options = {"encoder_from": str(tmp_path / "stock.pt"), "decoder_output": output}
    run = run_config(vectors, tmp_path, **options)
    trained = build_model(run.model, task)
    assert run.model.targets_in_checkpoint
    run.model.target_vectors = run.model.encoder_from = "gone"
    loaded = build_model(run.model, task)
    assert not torch.equal(states(loaded), states(trained))
    loaded.load_state_dict(trained.state_dict())
    assert torch.equal(states(loaded), states(trained))


def test_a_resumed_training_leaves_the_file_alone(task, vectors, tmp_path):
    options = {"encoder_from": str(tmp_path / "gone.pt")}
    with pytest.raises(InputError, match=r"gone\.pt does not exist"):
        build_model(run_config(vectors, tmp_path, **options).model, task)
    (tmp_path / "checkpoint_last.pt").touch()
    run = run_config(vectors, tmp_path, **options)
    build_model(run.model, task)
    assert run.model.targets_in_checkpoint


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"encoder_attention_heads": 4}, r"--encoder-attention-heads 4 \(here 2\): give this"),
        ({"encoder_layers": 3}, r"with --encoder-layers 3 \(here 2\)"),
        ({"encoder_normalize_before": True}, r"--encoder-normalize-before True \(here False\)"),
        ({"activation_fn": "gelu"}, r"--activation-fn gelu \(here relu\)"),
        ({"quant_noise_pq": 0.1}, r"its encoder's .*quant_noise.* this one's absent"),
    ],
)
def test_another_encoder_is_refused(task, vectors, tmp_path, options, message):
    stock(task, tmp_path / "stock.pt", **options)
    with pytest.raises(InputError, match=message):
        build_model(run_config(vectors, tmp_path, encoder_from=str(tmp_path / "stock.pt")).model, task)


def test_other_words_other_models_and_other_files_are_refused(task, vectors, dictionary, tmp_path):
    def refused(name, message):
        run = run_config(vectors, tmp_path, encoder_from=str(tmp_path / name))
        with pytest.raises(InputError, match=message):
            build_model(run.model, task)

    words = SimpleNamespace(source_dictionary=dictionary(9), target_dictionary=dictionary(13))
    stock(words, tmp_path / "words.pt")
    refused("words.pt", "has 13 entries, and this data's has 15. Preprocess .* --srcdict")
    lstm = ContinuousLSTM.build_model(TinyConfig(target_vectors=vectors), task)
    torch.save({"model": lstm.state_dict(), "cfg": {"model": {}}}, tmp_path / "lstm.pt")
    refused("lstm.pt", "holds no encoder of a Transformer: give a checkpoint of --arch transformer")
    (tmp_path / "torn.pt").write_bytes(b"PK\x03\x04 torn")
    refused("torn.pt", "torn or is no checkpoint")
    torch.save({"model": {}, "cfg": {"x": print}}, tmp_path / "evil.pt")
    refused("evil.pt", "was refused and nothing in it was run. It asks to load .*print")
