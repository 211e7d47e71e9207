"""A Hugging Face encoder-decoder whose head predicts vectors, without fairseq.

`bash scripts/setup.sh --extras examples` brings what it needs. A small Marian model is made from a configuration, so
nothing is downloaded. Its head projects hidden states to vectors and scores the words of a frozen table by them. To the
model's own `generate` these scores are logits like any others, so that greedy and beam search work as they are. What is
learnt is the generated corpus of `fairseq-xl data synthetic`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import sacrebleu
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from transformers import MarianConfig, MarianMTModel

from fairseq_xl.losses import FrozenTable, Scoring, VmfPosteriorLoss, log_scores, nearest
from fairseq_xl.text.synthetic.generator import generate
from fairseq_xl.vectors.random import random_vectors
from fairseq_xl.vectors.train import Training, train_vectors

PAD, END, UNKNOWN = 0, 1, 2
SPECIAL = ["<pad>", "</s>", "<unk>"]
EPOCHS = 5


class VectorHead(nn.Module):
    """From hidden states (…, H) to vectors (…, d), and from these to log-scores of the table's words (…, V)."""

    def __init__(self, hidden: int, table: FrozenTable) -> None:
        super().__init__()
        self.project = nn.Linear(hidden, table.dim)
        self.table = table

    def forward(self, states: Tensor) -> Tensor:
        return log_scores(self.project(states), self.table, Scoring("vmf_posterior"))


def numbered(sentences: list[tuple[str, ...]], index: dict[str, int]) -> list[Tensor]:
    """Sentences as rows of a table, each with its end."""
    return [torch.tensor([*(index.get(word, UNKNOWN) for word in words), END]) for words in sentences]


def padded(sentences: list[Tensor]) -> Tensor:
    """(N, T) of N sentences."""
    return pad_sequence(sentences, batch_first=True, padding_value=PAD)


def target_table(sentences: list[tuple[str, ...]], words: list[str], dim: int = 64) -> FrozenTable:
    """fastText vectors of the words, and random ones of what is no word. Padding is never predicted."""
    settings = Training(dim=dim, epoch=10, lr=0.2, min_count=1, buckets=20_000, threads=1)
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder, "train.en")
        text.write_text("".join(" ".join(sentence) + "\n" for sentence in sentences), encoding="utf-8")
        trained = train_vectors([text], Path(folder, "en"), settings, progress=False).select(words[len(SPECIAL) :])
    vectors = torch.from_numpy(random_vectors(SPECIAL, dim).matrix), torch.from_numpy(trained.matrix)
    banned = torch.arange(len(words)) == PAD
    return FrozenTable(torch.cat(vectors), banned, target_norm="normalize")


def main() -> None:
    torch.manual_seed(1)
    corpus = generate(seed=1, train=4000, monolingual=10_000)
    sources, targets = [[getattr(pair, side) for pair in corpus.train] for side in ("source", "target")]
    source_words, target_words = [
        SPECIAL + sorted({word for sentence in side for word in sentence}) for side in (sources, targets)
    ]
    source_index, target_index = [{w: row for row, w in enumerate(words)} for words in (source_words, target_words)]
    table = target_table(targets + corpus.monolingual, target_words)

    config = MarianConfig(
        **{"vocab_size": len(source_words), "decoder_vocab_size": len(target_words), "d_model": 96},
        **{"encoder_layers": 1, "encoder_ffn_dim": 192, "encoder_attention_heads": 4},
        **{"decoder_layers": 1, "decoder_ffn_dim": 192, "decoder_attention_heads": 4},
        **{"pad_token_id": PAD, "decoder_start_token_id": PAD, "eos_token_id": END, "forced_eos_token_id": None},
        **{"share_encoder_decoder_embeddings": False, "tie_word_embeddings": False, "scale_embedding": True},
    )
    model = MarianMTModel(config)
    model.lm_head = head = VectorHead(config.d_model, table)
    loss_of = VmfPosteriorLoss()

    pairs = list(zip(numbered(sources, source_index), numbered(targets, target_index), strict=True))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    steps = EPOCHS * (len(pairs) // 32)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=3e-3, total_steps=steps, pct_start=0.1)
    for epoch in range(1, EPOCHS + 1):
        right = words = 0
        for batch in torch.randperm(len(pairs)).split(32):
            source, target = (padded([pairs[row][side] for row in batch.tolist()]) for side in (0, 1))
            before = torch.cat([torch.full_like(target[:, :1], PAD), target[:, :-1]], 1)  # what each word follows
            states = model.model(source, source != PAD, decoder_input_ids=before).last_hidden_state
            real = target != PAD
            predicted = head.project(states[real])
            loss = loss_of(predicted, target[real], table)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            right += (nearest(predicted, table)[1][:, 0] == target[real]).sum().item()
            words += int(real.sum())
        print(f"epoch {epoch}: accuracy {100 * right / words:.1f} %", flush=True)

    model.eval()
    source = padded(numbered([pair.source for pair in corpus.test], source_index))
    references = [" ".join(pair.target) for pair in corpus.test]
    for beams in (1, 5):
        found = model.generate(source, attention_mask=source != PAD, num_beams=beams, max_new_tokens=30)
        texts = [" ".join(target_words[row] for row in line if row not in (PAD, END)) for line in found.tolist()]
        bleu = sacrebleu.corpus_bleu(texts, [references], tokenize="none").score
        print(f"beam {beams}: {bleu:.1f} BLEU on the test set")


if __name__ == "__main__":
    main()
