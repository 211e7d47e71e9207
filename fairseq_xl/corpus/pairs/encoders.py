"""Sentences of one language to vectors of length 1, by whatever encoder a user has.

vectors:FILE                 average of word vectors, weighted by a / (a + p(word)), the first principal
                             components taken away (SIF, Arora et al. 2017)
suite:PATH                   an encoder folder or a checkpoint of this suite
sentence-transformers:NAME   a model's name or folder
transformers:NAME            the same; the last hidden states of a sentence's pieces, averaged
array:FILE.npy               row n belongs to line n of what `corpus negatives --sentences` writes
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from fairseq_xl.corpus.documents.words import words
from fairseq_xl.encode.pretrained import load_sentence_transformer, load_transformer
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.progress import progress_bar
from fairseq_xl.vectors.table import read_vectors

SMOOTHING = 1e-3
"""a of SIF"""
BATCH = 64


def encode(sentences: Sequence[str], encoder: str, components: int = 0) -> np.ndarray:
    """Vectors (N, d) float32 of length 1; zeros for a sentence that the encoder knows nothing of.

    Args:
        encoder: KIND:NAME, see above.
        components: principal components to take away, with ``vectors`` only.

    Raises:
        InputError: an unknown kind, a package that is missing, a model or file that cannot be read.
    """
    kind, _, name = encoder.partition(":")
    kinds: dict[str, Callable[[Sequence[str], str], np.ndarray]] = {
        "vectors": lambda texts, path: averaged(texts, Path(path), components),
        "suite": _suite,
        "sentence-transformers": _sentence_transformers,
        "transformers": _transformers,
        "array": _array,
    }
    if kind not in kinds or not name:
        raise InputError(f"the encoder is {encoder!r}: give KIND:NAME, KIND being {', '.join(kinds)}")
    vectors = np.ascontiguousarray(kinds[kind](sentences, name), dtype=np.float32)
    if not np.isfinite(vectors).all():
        raise InputError(f"{encoder} gives vectors with numbers that are not finite")
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(norms > 0, norms, 1)


def averaged(sentences: Sequence[str], path: Path, components: int) -> np.ndarray:
    """SIF: Arora, Liang & Ma 2017, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings", algorithm 1.

    A word's probability is its share of the sentences' words.
    """
    tokens = [words(sentence) for sentence in sentences]
    counts = Counter(word for sentence in tokens for word in sentence)
    table = read_vectors(path, list(counts), progress=False)
    if not table.words:
        raise InputError(f"{path} has no word of the sentences: are they of its language, in lower case?")
    share = np.array([counts[word] / counts.total() for word in table.words])
    weighted = table.matrix * (SMOOTHING / (SMOOTHING + share))[:, None].astype(np.float32)
    found = np.zeros((len(sentences), table.dim), np.float32)
    for row, sentence in enumerate(tokens):
        known = [table.index[word] for word in sentence if word in table.index]
        if known:
            found[row] = weighted[known].mean(0)
    if components:
        # The d × d matrix of second moments is small, however many sentences there are.
        _, directions = np.linalg.eigh(found.T.astype(np.float64) @ found)
        common = directions[:, -components:].astype(np.float32)
        filled = found.any(1)
        found[filled] -= found[filled] @ common @ common.T
    return found


def _suite(sentences: Sequence[str], name: str) -> np.ndarray:
    import fairseq_xl

    return fairseq_xl.SentenceEncoder.load(name).encode(sentences)


def _sentence_transformers(sentences: Sequence[str], name: str) -> np.ndarray:
    return load_sentence_transformer(name).encode(list(sentences), batch_size=BATCH, convert_to_numpy=True)


def _transformers(sentences: Sequence[str], name: str) -> np.ndarray:
    """OpenAI-GPT has no padding token of its own: what stands there is masked, so any other will do."""
    tokenizer, model = load_transformer(name)
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = model.to(device)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.unk_token or tokenizer.eos_token
    rows = []
    with torch.inference_mode(), progress_bar("encoding", True, len(sentences), " sentences") as bar:
        for start in range(0, len(sentences), BATCH):
            batch = list(sentences[start : start + BATCH])
            tokens = tokenizer(batch, padding=True, truncation=True, return_tensors="pt").to(device)
            mask = tokens["attention_mask"].unsqueeze(2)
            states = model(**tokens).last_hidden_state * mask
            rows.append((states.sum(1) / mask.sum(1).clamp(min=1)).float().cpu().numpy())
            bar.update(len(batch))
    return np.concatenate(rows)


def _array(sentences: Sequence[str], name: str) -> np.ndarray:
    try:
        found = np.load(name, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise InputError(f"{name} cannot be read as an array: {error}") from None
    if found.ndim != 2 or len(found) != len(sentences):
        raise InputError(
            f"{name} has shape {found.shape}, but there are {len(sentences)} sentences: encode the file that "
            "`corpus negatives --sentences` writes now"
        )
    return found
