"""A training loop by Hugging Face Accelerate for a plain torch model that predicts vectors, without fairseq.

`bash scripts/setup.sh --extras examples` brings what it needs. `accelerate launch examples/accelerate_loop.py` spreads
the loop over the processes and devices of a machine; without it the loop runs in one process. What is learnt is the
generated corpus of `fairseq-xl data synthetic`.
"""

from __future__ import annotations

import sacrebleu
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

from fairseq_xl.losses import FrozenTable, SynMarginProjLoss, nearest
from fairseq_xl.text.synthetic.generator import generate
from fairseq_xl.vectors.random import random_vectors

PAD, END, UNKNOWN = 0, 1, 2
SPECIAL = ["<pad>", "</s>", "<unk>"]
EPOCHS = 8

Pairs = list[tuple[Tensor, Tensor]]


class Translator(nn.Module):
    """Two GRUs with attention: words in, a vector for each next word out. The table moves and is saved with it."""

    def __init__(self, source_words: int, table: FrozenTable, hidden: int = 128) -> None:
        super().__init__()
        self.table = table
        self.embed = nn.Embedding(source_words, hidden, padding_idx=PAD)
        self.encoder = nn.GRU(hidden, hidden // 2, batch_first=True, bidirectional=True)
        self.decoder = nn.GRU(table.dim, hidden, batch_first=True)
        self.output = nn.Sequential(nn.Linear(2 * hidden, hidden), nn.Tanh(), nn.Linear(hidden, table.dim))

    def forward(self, source: Tensor, before: Tensor) -> Tensor:
        """Vectors (N, T, d) of the words that follow each of ``before`` (N, T), given sources (N, S)."""
        memory, _ = self.encoder(self.embed(source))
        states, _ = self.decoder(self.table(before))
        scores = (states @ memory.transpose(1, 2)).masked_fill((source == PAD).unsqueeze(1), -torch.inf)
        return self.output(torch.cat([states, scores.softmax(-1) @ memory], -1))

    @torch.no_grad()
    def greedy(self, source: Tensor, limit: int = 20) -> Tensor:
        """The nearest words (N, T), one after the other, until every sentence has ended."""
        words = torch.full_like(source[:, :1], PAD)
        while words.shape[1] <= limit and not (words == END).any(1).all():
            _, found = nearest(self(source, words)[:, -1], self.table)
            words = torch.cat([words, found], 1)
        return words[:, 1:]


def numbered(sentence: tuple[str, ...], index: dict[str, int]) -> Tensor:
    """A sentence as rows of a table, with its end."""
    return torch.tensor([*(index.get(word, UNKNOWN) for word in sentence), END])


def collate(pairs: Pairs) -> list[Tensor]:
    """Sources, targets, and the words that each target follows: each (N, T)."""
    source, target = (pad_sequence(side, batch_first=True, padding_value=PAD) for side in zip(*pairs, strict=True))
    return [source, target, torch.cat([torch.full_like(target[:, :1], PAD), target[:, :-1]], 1)]


def main() -> None:
    set_seed(1)
    accelerator = Accelerator()
    corpus = generate(seed=1, train=4000)
    source_words = SPECIAL + sorted({word for pair in corpus.train for word in pair.source})
    target_words = SPECIAL + sorted({word for pair in corpus.train for word in pair.target})
    indices = [{word: row for row, word in enumerate(words)} for words in (source_words, target_words)]
    train, valid, test = (
        [(numbered(pair.source, indices[0]), numbered(pair.target, indices[1])) for pair in split]
        for split in (corpus.train, corpus.valid, corpus.test)
    )
    # Random directions, for brevity: hugging_face.py trains vectors. Padding is never predicted.
    vectors = torch.from_numpy(random_vectors(target_words, 64).matrix)
    table = FrozenTable(vectors, torch.arange(len(target_words)) == PAD, target_norm="normalize")

    model = Translator(len(source_words), table)
    loss_of = SynMarginProjLoss(target_norm="trust")  # the table's rows are of unit length
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    model, optimizer, train_batches, valid_batches = accelerator.prepare(
        model,
        optimizer,
        DataLoader(train, 32, shuffle=True, collate_fn=collate),
        DataLoader(valid, 100, collate_fn=collate),
    )
    for epoch in range(1, EPOCHS + 1):
        model.train()
        for source, target, before in train_batches:
            real = target != PAD
            loss = loss_of(model(source, before)[real], table(target[real]))
            optimizer.zero_grad()
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        model.eval()
        right = words = 0
        for source, target, before in valid_batches:
            with torch.no_grad():
                _, found = nearest(model(source, before)[target != PAD], table)
            hits = (found[:, 0] == target[target != PAD]).float()
            right += accelerator.reduce(hits.sum()).item()
            words += accelerator.reduce(torch.ones_like(hits).sum()).item()
        accelerator.print(f"epoch {epoch}: accuracy {100 * right / words:.1f} % on the validation set", flush=True)

    rows = accelerator.unwrap_model(model).greedy(collate(test)[0].to(accelerator.device)).tolist()
    texts = [" ".join(target_words[row] for row in [*line, END][: [*line, END].index(END)]) for line in rows]
    bleu = sacrebleu.corpus_bleu(texts, [[" ".join(pair.target) for pair in corpus.test]], tokenize="none").score
    accelerator.print(f"greedy: {bleu:.1f} BLEU on the test set")


if __name__ == "__main__":
    main()
