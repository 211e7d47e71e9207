"""continuous_transformer through fairseq's commands: it learns the synthetic language, translates, and refuses."""

import re

import in_process
import pytest
import sacrebleu

from fairseq_xl.io.errors import InputError
from fairseq_xl.training import checkpoints

pytestmark = pytest.mark.slow

SIZES = " ".join(
    f"--{side}-embed-dim 128 --{side}-ffn-embed-dim 256 --{side}-layers 2 --{side}-attention-heads 4 "
    f"--{side}-normalize-before"
    for side in ("encoder", "decoder")
)
EPOCHS = 5


@pytest.fixture(scope="module")
def corpus(synthetic_corpus):
    return synthetic_corpus(2000, 100, 60, dim=64)


def train(corpus, save, line):
    in_process.run(
        "train",
        f"{corpus}/bin {SIZES} --optimizer adam --adam-betas (0.9,0.98) --lr 0.003 --lr-scheduler inverse_sqrt "
        f"--warmup-updates 80 --clip-norm 1 --batch-size 24 --save-dir {save} --num-workers 0 --cpu --seed 1 "
        f"--no-progress-bar {line}",
    )


def translate(corpus, folder, paths, line=""):
    in_process.run(
        "generate",
        f"{corpus}/bin --path {paths} --beam 4 --batch-size 30 --max-len-a 2 --max-len-b 5 --cpu "
        f"--results-path {folder} {line}",
    )
    found = re.findall(r"^H-(\d+)\t(\S+)\t(.*)$", (folder / "generate-test.txt").read_text(), re.M)
    return [(text, float(score)) for _, score, text in sorted(found, key=lambda h: int(h[0]))]


@pytest.fixture(scope="module")
def trained(corpus):
    """Trained on top of a stock Transformer's encoder; the files that both began with are gone afterwards."""
    stock = corpus / "stock" / "checkpoint_last.pt"
    train(corpus, stock.parent, "--arch transformer --criterion cross_entropy --max-update 1 --disable-validation")
    train(
        corpus,
        corpus / "proj",
        f"--arch continuous_transformer_tiny --criterion syn_margin_proj --target-vectors {corpus}/en.vec "
        f"--encoder-from {stock} --max-epoch {EPOCHS} --best-checkpoint-metric accuracy "
        "--maximize-best-checkpoint-metric",
    )
    stock.rename(corpus / "stock.pt")
    (corpus / "en.vec").rename(corpus / "moved.vec")
    return corpus


def test_it_learns_and_translates_without_the_files_it_began_with(trained, tmp_path):
    accuracy = [
        checkpoints.read(trained / f"proj/checkpoint{epoch}.pt")["extra_state"]["val_loss"]
        for epoch in range(1, EPOCHS + 1)
    ]
    assert accuracy[-1] > accuracy[0] + 20
    assert accuracy[-1] > 55
    best = trained / "proj/checkpoint_best.pt"
    found = translate(trained, tmp_path, best)
    reference = (trained / "test.en").read_text(encoding="utf-8").splitlines()
    texts = [text for text, _ in found]
    assert sacrebleu.corpus_bleu(texts, [reference], force=True).score > 20
    nearest = translate(trained, tmp_path, best, "--task continuous_translation --nearest top")
    assert [text for text, _ in nearest] == texts
    assert all(abs(a - b) < 1e-3 for (_, a), (_, b) in zip(nearest, found, strict=True))
    twice = translate(trained, tmp_path, f"{best}:{best}")
    assert [text for text, _ in twice] == texts


def test_a_training_goes_on_without_the_encoder_it_began_with(trained):
    last = trained / "proj/checkpoint_last.pt"
    before = checkpoints.updates(checkpoints.read(last))
    train(
        trained,
        trained / "proj",
        f"--arch continuous_transformer_tiny --criterion syn_margin_proj --target-vectors {trained}/moved.vec "
        f"--encoder-from {trained}/stock/checkpoint_last.pt --max-epoch {EPOCHS + 1} --max-update 1",
    )
    assert checkpoints.updates(checkpoints.read(last)) == before + 1


def test_criteria_and_outputs_that_do_not_go_together_are_refused(trained, tmp_path):
    vectors = f"--target-vectors {trained}/moved.vec --max-update 1"
    ours = f"--arch continuous_transformer_tiny {vectors}"
    with pytest.raises(InputError, match="trains a softmax, but the model predicts vectors"):
        train(trained, tmp_path, f"{ours} --criterion cross_entropy")
    with pytest.raises(InputError, match="For translation use --arch continuous_lstm or"):
        train(trained, tmp_path, f"{ours} --criterion vmf --decoder-output softmax")
    with pytest.raises(InputError, match="does without --share-all-embeddings"):
        train(trained, tmp_path, f"{ours} --criterion vmf --share-all-embeddings")
    with pytest.raises(InputError, match=r"--encoder-layers 2 \(here 3\)"):
        train(trained, tmp_path, f"{ours} --criterion vmf --encoder-from {trained}/stock.pt --encoder-layers 3")
