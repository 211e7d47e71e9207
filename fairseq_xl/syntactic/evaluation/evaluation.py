"""Everything that is measured of several encoders on evaluation sets and treebanks, as plain data."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from typing import Any

import torch

from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.evaluation import approximate, cross_lingual, neighbours
from fairseq_xl.syntactic.evaluation.cosines import Matrix
from fairseq_xl.syntactic.evaluation.dissimilarity import dissimilarities
from fairseq_xl.syntactic.evaluation.encoders import Encoder
from fairseq_xl.syntactic.tagging.tagged_text import TaggedText
from fairseq_xl.vectors.faiss_index import import_faiss

Entries = list[tuple[dict[str, Any], list[Matrix]]]
"""What the record says of an encoder, which the measures add to, and its embeddings of each text."""


def evaluate(
    encoders: Sequence[Encoder],
    sets: Sequence[TaggedText],
    treebanks: Sequence[TaggedText],
    measures: Sequence[str],
    device: torch.device | str = "cpu",
    index: str | None = None,
) -> dict[str, Any]:
    """Score encoders side by side, and report progress on stderr.

    Args:
        sets: groups of sentences with the same tags, for nearest neighbours; one for each language.
        treebanks: sentences with gold tags, for functional dissimilarity; one for each language.
        measures: which of ``nearest``, ``dissimilarity`` and ``cross-lingual`` to take. Nearest sentences in another
            language are looked up among the sets and among the treebanks.
        device: where all pairs are compared.
        index: find the nearest neighbours of the sets with this kind of faiss index instead.

    Returns:
        a dict. ``texts`` describes the texts, by ``sets`` and ``treebanks`` and language. ``cross_lingual`` says what
        is attainable there, by ``sets`` and ``treebanks`` and pair, such as "de-en" (queries German, candidates
        English). ``encoders`` has for each its ``label``, ``spec``, ``nearest``, ``dissimilarity`` and
        ``cross_lingual``. ``failures`` has a sentence for each encoder that could not be used and is left out. It has
        one, too, for each score that an encoder cannot have.

    Raises:
        InputError: nothing to measure, or nothing to measure it on; two texts of a language, two encoders of a label,
            or none that can be used. A set is too small for nearest neighbours. An index is wanted, and faiss missing.
    """
    _check_distinct("encoders are called", [encoder.label for encoder in encoders])
    _check_texts(sets, treebanks, measures)
    if "nearest" in measures and index is not None:
        import_faiss()  # which would otherwise be missed after hours of encoding, once for each encoder
    of_sets, of_treebanks, failures = _embedded(encoders, sets, treebanks, "cross-lingual" in measures)
    if encoders and not of_sets:
        raise InputError("; ".join(failures))
    record: dict[str, Any] = {
        "texts": {
            "sets": {text.language: {**_about(text), **neighbours.describe(text.upos)} for text in sets},
            "treebanks": {text.language: _about(text) for text in treebanks},
        },
        "encoders": [entry for entry, _ in of_sets],
        "failures": failures,
    }
    if "nearest" in measures:
        _nearest(of_sets, sets, device, index, failures)
    if "dissimilarity" in measures:
        for place, text in enumerate(treebanks):
            about = record["texts"]["treebanks"][text.language]
            about["constant"] = _dissimilarity(of_treebanks, place, text, device, failures)
    if "cross-lingual" in measures:
        record["cross_lingual"] = {
            "sets": _cross_lingual(of_sets, sets, "sets", device),
            "treebanks": _cross_lingual(of_treebanks, treebanks, "treebanks", device),
        }
    return record


def _check_texts(sets: Sequence[TaggedText], treebanks: Sequence[TaggedText], measures: Sequence[str]) -> None:
    _check_distinct("evaluation sets are of language", [text.language for text in sets])
    _check_distinct("treebanks are of language", [text.language for text in treebanks])
    if not sets and not treebanks:
        raise InputError("there is nothing to evaluate on: give evaluation sets, treebanks or both")
    possible = {"nearest": sets, "dissimilarity": treebanks, "cross-lingual": sets[1:] or treebanks[1:]}
    takes = {"nearest": "evaluation sets", "dissimilarity": "treebanks", "cross-lingual": "two of either"}
    missing = [measure for measure in measures if not possible[measure]]
    # All measures are asked for where none is named: then those that there is something for.
    if missing and len(measures) < len(possible):
        raise InputError(f"nothing is there to measure {missing[0]} on: it takes {takes[missing[0]]}")
    if "nearest" in measures:
        _check_sizes(sets)


def _embedded(
    encoders: Sequence[Encoder], sets: Sequence[TaggedText], treebanks: Sequence[TaggedText], compare_languages: bool
) -> tuple[Entries, Entries, list[str]]:
    """The entries of both kinds of text, and a sentence for each encoder that could not be used and is left out."""
    failures: list[str] = []
    of_sets: Entries = []
    of_treebanks: Entries = []
    for encoder in encoders:
        entry = {"label": encoder.label, "spec": encoder.spec}
        _say(f"{encoder.label}: {sum(map(len, [*sets, *treebanks])):,} sentences")
        try:
            found = encoder.embed([*sets, *treebanks])
            both = found[: len(sets)], found[len(sets) :]
            if compare_languages:
                for matrices in both:
                    _check_dimension(encoder.label, matrices)
        except InputError as error:
            failures.append(str(error))
            _say(f"{error}; going on without it")
            continue
        of_sets.append((entry, both[0]))
        of_treebanks.append((entry, both[1]))
    return of_sets, of_treebanks, failures


def _nearest(
    entries: Entries, texts: Sequence[TaggedText], device: torch.device | str, index: str | None, failures: list[str]
) -> None:
    """Whose vectors cannot be searched joins the failures."""
    for entry, matrices in entries:
        found = {}
        try:
            for text, matrix in zip(texts, matrices, strict=True):
                _say(f"{entry['label']}: nearest neighbours, {text.language}")
                groups = neighbours.group_numbers(text.upos)
                if index is None:
                    shares = neighbours.accuracies(matrix, groups, device=device)
                else:
                    shares = approximate.accuracies(matrix, groups, index)
                found[text.language] = neighbours.by_length(shares, text.upos)
        except InputError as error:
            failures.append(f"{entry['label']}: {error}")
            _say(f"{failures[-1]}; going on without it")
            continue
        entry["nearest"] = found


def _dissimilarity(
    entries: Entries, place: int, text: TaggedText, device: torch.device | str, failures: list[str]
) -> float:
    """What a constant would score on the text at a ``place``; whose embeddings have no score joins the failures."""
    _say(f"functional dissimilarity, {text.language}")
    scores, constant = dissimilarities([matrices[place] for _, matrices in entries], text.upos, device)
    for (entry, _), score in zip(entries, scores, strict=True):
        if score is None:
            failures.append(f"{entry['label']}: all embeddings of {text.source} have the same cosine to each other")
        else:
            entry.setdefault("dissimilarity", {})[text.language] = score
    return constant


def _check_sizes(sets: Sequence[TaggedText]) -> None:
    most = max(neighbours.KS)
    for text in sets:
        if len(text) <= most:
            raise InputError(
                f"{text.source}: {len(text)} sentences are too few for {most} neighbours of each: give more sentences, "
                "or --measures without nearest"
            )


def _check_dimension(label: str, found: Sequence[Matrix]) -> None:
    if len({matrix.shape[1] for matrix in found}) > 1:
        raise InputError(
            f"{label} has vectors of different dimension in different languages, which cannot be compared across "
            "languages: leave out --measures cross-lingual"
        )


def _cross_lingual(
    entries: Entries, texts: Sequence[TaggedText], kind: str, device: torch.device | str
) -> dict[str, Any]:
    """What is attainable, by pair."""
    attainable: dict[str, Any] = {}
    for i, queries in enumerate(texts):
        others = [j for j in range(len(texts)) if j != i]
        if others:
            _say(f"nearest in another language, {kind}, from {queries.language}")
        for j in others:
            pair = f"{queries.language}-{texts[j].language}"
            scores = cross_lingual.compare(queries, texts[j], [(m[i], m[j]) for _, m in entries], device)
            for (entry, _), score in zip(entries, scores.pop("encoders"), strict=True):
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


def _say(line: str) -> None:
    print(line, file=sys.stderr)
