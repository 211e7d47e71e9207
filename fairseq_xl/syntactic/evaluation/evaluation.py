"""Everything that is measured of several encoders on evaluation sets and treebanks, as plain data."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from itertools import compress
from operator import not_
from typing import Any

import torch

from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.evaluation import approximate, cross_lingual, neighbours
from fairseq_xl.syntactic.evaluation.cosines import Matrix
from fairseq_xl.syntactic.evaluation.dissimilarity import all_alike, dissimilarities
from fairseq_xl.syntactic.evaluation.encoders import Encoder
from fairseq_xl.syntactic.tagging.tagged_text import TaggedText

Say = Callable[[str], None]


def evaluate(
    encoders: Sequence[Encoder],
    sets: Sequence[TaggedText],
    treebanks: Sequence[TaggedText],
    measures: Sequence[str],
    device: torch.device | str = "cpu",
    index: str | None = None,
    say: Say = lambda line: None,
) -> dict[str, Any]:
    """Score encoders side by side.

    Args:
        sets: groups of sentences with the same tags, for nearest neighbours; one for each language.
        treebanks: sentences with gold tags, for functional dissimilarity; one for each language.
        measures: which of ``nearest``, ``dissimilarity`` and ``cross-lingual`` to take. Nearest sentences in another
            language are looked up among the sets and among the treebanks.
        device: where all pairs are compared.
        index: find the nearest neighbours of the sets with this kind of faiss index instead.
        say: told what goes on.

    Returns:
        ``texts``: by ``sets`` and ``treebanks`` and language, what they are; ``cross_lingual``: what is attainable
        there, by ``sets`` and ``treebanks`` and pair "de-en" (queries German, candidates English); ``encoders``: of
        each ``label``, ``spec``, ``nearest``, ``dissimilarity`` and ``cross_lingual``; ``failures``: a sentence for
        each encoder that could not be used, and is left out, and for each score that an encoder cannot have.

    Raises:
        InputError: nothing to measure, two texts of a language, two encoders of a label, or no encoder can be used.
    """
    _check_distinct("encoders are called", [encoder.label for encoder in encoders])
    _check_distinct("evaluation sets are of language", [text.language for text in sets])
    _check_distinct("treebanks are of language", [text.language for text in treebanks])
    texts = [*sets, *treebanks]
    if not texts:
        raise InputError("there is nothing to evaluate on: give evaluation sets, treebanks or both")
    entries: list[dict[str, Any]] = []
    matrices: list[list[Matrix]] = []
    failures: list[str] = []
    kinds = {"sets": slice(0, len(sets)), "treebanks": slice(len(sets), len(texts))}
    for encoder in encoders:
        say(f"{encoder.label}: {sum(map(len, texts)):,} sentences")
        try:
            found = encoder.embed(texts)
            if "cross-lingual" in measures:
                for part in kinds.values():
                    _check_dimension(encoder.label, found[part])
        except InputError as error:
            failures.append(str(error))
            say(f"{error}; going on without it")
            continue
        matrices.append(found)
        entries.append({"label": encoder.label, "spec": encoder.spec})
    if encoders and not entries:
        raise InputError("; ".join(failures))
    record: dict[str, Any] = {
        "texts": {
            "sets": {text.language: {**_about(text), **neighbours.describe(text.upos)} for text in sets},
            "treebanks": {text.language: _about(text) for text in treebanks},
        },
        "encoders": entries,
        "failures": failures,
    }
    if "nearest" in measures:
        for entry, found in zip(entries, matrices, strict=True):
            entry["nearest"] = {}
            for text, matrix in zip(sets, found, strict=False):
                say(f"{entry['label']}: nearest neighbours, {text.language}")
                groups = neighbours.group_numbers(text.upos)
                if index is None:
                    shares = neighbours.accuracies(matrix, groups, device=device, progress=True)
                else:
                    shares = approximate.accuracies(matrix, groups, index, progress=True)
                entry["nearest"][text.language] = neighbours.by_length(shares, text.upos)
    if "dissimilarity" in measures:
        about = record["texts"]["treebanks"]
        parts = [found[len(sets) :] for found in matrices]
        failures += _dissimilarity(entries, parts, treebanks, about, device, say)
    if "cross-lingual" in measures:
        record["cross_lingual"] = {}
        for kind, part in kinds.items():
            made = _cross_lingual(entries, [found[part] for found in matrices], texts[part], kind, device, say)
            record["cross_lingual"][kind] = made
    return record


def _dissimilarity(
    entries: list[dict[str, Any]],
    matrices: list[list[Matrix]],
    treebanks: Sequence[TaggedText],
    about: dict[str, dict[str, Any]],
    device: torch.device | str,
    say: Say,
) -> list[str]:
    """Fill in the encoders' entries, and what a constant would score in ``about`` the treebanks.

    Returns whose embeddings have no such score.
    """
    failures: list[str] = []
    for place, text in enumerate(treebanks):
        say(f"functional dissimilarity, {text.language}")
        alike = [all_alike(found[place]) for found in matrices]
        for entry, same in zip(entries, alike, strict=True):
            if same:
                reason = f"all embeddings of {text.source} have the same cosine to each other"
                failures.append(f"{entry['label']}: {reason}")
        used = [found[place] for found, same in zip(matrices, alike, strict=True) if not same]
        scores, constant = dissimilarities(used, text.upos, device, progress=True)
        about[text.language]["constant"] = constant
        for entry, score in zip(compress(entries, map(not_, alike)), scores, strict=True):
            entry.setdefault("dissimilarity", {})[text.language] = score
    return failures


def _check_dimension(label: str, found: Sequence[Matrix]) -> None:
    if len({matrix.shape[1] for matrix in found}) > 1:
        raise InputError(
            f"{label} has vectors of different dimension in different languages, which cannot be compared across "
            "languages: leave out --measures cross-lingual"
        )


def _cross_lingual(
    entries: list[dict[str, Any]],
    matrices: list[list[Matrix]],
    texts: Sequence[TaggedText],
    kind: str,
    device: torch.device | str,
    say: Say,
) -> dict[str, Any]:
    """Fill in the encoders' entries; return what is attainable, by pair."""
    attainable: dict[str, Any] = {}
    for i, queries in enumerate(texts):
        others = [j for j in range(len(texts)) if j != i]
        if others:
            say(f"nearest in another language, {kind}, from {queries.language}")
        for j in others:
            pair = f"{queries.language}-{texts[j].language}"
            scores = cross_lingual.compare(queries, texts[j], [(m[i], m[j]) for m in matrices], device)
            for entry, score in zip(entries, scores.pop("encoders"), strict=True):
                entry.setdefault("cross_lingual", {}).setdefault(kind, {})[pair] = score
            attainable[pair] = scores
    return attainable


def _about(text: TaggedText) -> dict[str, Any]:
    content = hashlib.sha256()
    for line, tags in zip(text.texts, text.upos, strict=True):
        content.update(f"{line}\t{' '.join(tags)}\n".encode())
    return {"file": text.source.name, "sentences": len(text), "sha256": content.hexdigest()}


def _check_distinct(what: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two {what} {name!r}: give each only once, or another name")
