"""Every translation model trains by fairseq-hydra-train, and by torchrun, as by fairseq-train alone."""

from __future__ import annotations

import pytest
import registered


@pytest.fixture(scope="module")
def corpus(synthetic_corpus):
    return synthetic_corpus(120, 20, 20, dim=12)


@pytest.fixture
def train(corpus, train_both_ways, tmp_path):
    def run(*overrides):
        return train_both_ways(
            "translation",
            tmp_path,
            f"task.data={corpus}/bin",
            f"model.target_vectors={corpus}/en.vec",
            "optimization.max_update=2",
            *overrides,
        )

    return run


LSTM = [f"+model.{side}_{part}_dim=16" for side in ("encoder", "decoder") for part in ("embed", "hidden")]
LSTM.remove("+model.decoder_embed_dim=16")  # that of the vectors
TRANSFORMER = [f"+model.{side}_{part}=16" for side in ("encoder", "decoder") for part in ("embed_dim", "ffn_embed_dim")]


def as_options(overrides: list[str]) -> str:
    """``+model.encoder_embed_dim=16`` as ``--encoder-embed-dim 16``."""
    words = (one.removeprefix("+model.").split("=") for one in overrides)
    return " ".join(f"--{name.replace('_', '-')} {value}" for name, value in words)


@pytest.mark.parametrize("task", ["translation", "continuous_translation"])
@pytest.mark.parametrize(
    "overrides",
    [
        ["model._name=continuous_lstm", *LSTM],
        ["model._name=continuous_lstm_iwslt16", *LSTM],
        ["model._name=continuous_lstm_tiny", "criterion._name=vmf"],
        ["model._name=continuous_transformer", "criterion._name=cosine", *TRANSFORMER],
        [
            "model._name=continuous_transformer_iwslt",
            "criterion._name=negative_sampling",
            "+criterion.margin=0.4",
            *TRANSFORMER,
        ],
        ["model._name=continuous_transformer_tiny", "criterion._name=info_nce", *TRANSFORMER],
    ],
)
def test_every_model(overrides, task, train, assert_same_training):
    assert_same_training(*train(*overrides, f"task._name={task}"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arch", "loss"),
    [
        *((arch, "syn_margin_proj") for arch in registered.models("continuous", presets=False)),
        ("continuous_lstm", "sampled_softmax --negatives 9 --decoder-output softmax"),
    ],
)
def test_every_model_resumes_validates_and_is_averaged(arch, loss, corpus, assert_every_command_works, tmp_path):
    sizes = as_options(TRANSFORMER if "transformer" in arch else LSTM)
    assert_every_command_works(
        f"{corpus}/bin --task translation --arch {arch} {sizes} --dropout 0.3 --criterion {loss} "
        f"--target-vectors {corpus}/en.vec --optimizer adam --lr 0.005 --batch-size 40",
        tmp_path,
    )


TWICE = (
    "{}/bin --task translation --arch continuous_lstm_tiny --dropout 0 --criterion {} --target-vectors {}/en.vec "
    "--optimizer adam --lr 0.005 --batch-size 10 --required-batch-size-multiple 1 --num-workers 0 --max-epoch 2 "
    "--seed 1"
)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["vmf", "syn_margin_proj"])
def test_two_processes_do_what_one_does_with_batches_twice_as_many(loss, corpus, assert_processes_do_as_one, tmp_path):
    assert_processes_do_as_one(TWICE.format(corpus, loss, corpus), tmp_path)


@pytest.mark.slow
def test_two_machines_do_what_one_process_does(corpus, assert_processes_do_as_one, by_two_agents, tmp_path):
    assert_processes_do_as_one(TWICE.format(corpus, "vmf", corpus), tmp_path, by_two_agents)


@pytest.mark.slow
@pytest.mark.slurm
def test_two_nodes_of_slurm_do_what_one_process_does(corpus, assert_processes_do_as_one, by_srun, tmp_path):
    line = TWICE.format(corpus, "vmf", corpus)
    assert_processes_do_as_one(line, tmp_path, by_srun, 4)
