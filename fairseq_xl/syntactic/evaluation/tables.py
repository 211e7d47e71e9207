"""Tables like the paper's 3 to 6 from the records of one or several evaluations."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.json_files import opened_json
from fairseq_xl.report.scores import spread
from fairseq_xl.report.tables import Table

Record = dict[str, Any]
SCORES = ("similarity", "literal", "correlation")
"""of the encoders on the treebanks, as one cell shows them"""
KIND_NAMES = {"sets": "the evaluation sets", "treebanks": "the treebanks"}


def read_record(path: Path) -> Record:
    """A record that ``fairseq-xl embed evaluate`` wrote.

    Raises:
        InputError: no such file, or another one.
    """
    record: Record
    with opened_json(path, "record of an evaluation", "name what `fairseq-xl embed evaluate` wrote") as record:
        record["encoders"][0]["label"]
        tables([record])  # which read everything that there is
    return record


def tables(records: Sequence[Record]) -> list[Table]:
    """All tables that there is something for.

    Encoders of the same label in several records are one row, mean ± standard deviation over them: the seeds of a
    system.

    Raises:
        InputError: records whose texts of a language differ.
    """
    joint = _Joint(records)
    made = [nearest_table(joint), treebank_table(joint)]
    made += [cross_lingual_table(joint, kind) for kind in KIND_NAMES]
    made += [length_table(joint, language) for language in joint.sets]
    return [table for table in made if table.rows]


class _Joint:
    """Several records side by side.

    Attributes:
        sets, treebanks: what there is to know of the texts, by language.
        attainable: by kind of text and pair of languages.
        encoders: the entries of each label.
    """

    def __init__(self, records: Sequence[Record]):
        self.sets: dict[str, Any] = {}
        self.treebanks: dict[str, Any] = {}
        self.attainable: dict[str, dict[str, Any]] = {kind: {} for kind in KIND_NAMES}
        self.encoders: dict[str, list[Any]] = {}
        for record in records:
            for known, kind in ((self.sets, "sets"), (self.treebanks, "treebanks")):
                for language, about in record["texts"][kind].items():
                    if known.setdefault(language, about)["sha256"] != about["sha256"]:
                        raise InputError(
                            f"the records were made on different texts of language {language!r}: evaluate again"
                        )
                self.attainable[kind].update(record.get("cross_lingual", {}).get(kind, {}))
            for entry in record["encoders"]:
                self.encoders.setdefault(entry["label"], []).append(entry)


def _over(entries: Sequence[Any], keys: Sequence[str], digits: int) -> str:
    """Mean ± deviation of what the entries have under keys, one inside the other; nothing where none has it."""
    values = []
    for entry in entries:
        try:
            values.append(reduce(getitem, keys, entry))
        except KeyError:
            continue
    return spread(values, digits) if values else ""


def nearest_table(joint: _Joint) -> Table:
    """Tables 3, 4 and 6: k-NN accuracies of each encoder in each language, and the sizes of the sets."""
    table = Table("Nearest neighbours with the same tags, 1-NN/5-NN (%)", ["encoder", *joint.sets])
    for label, entries in joint.encoders.items():
        cells = []
        for language in joint.sets:
            shown = [_over(entries, ("nearest", language, k), 2) for k in ("1-NN", "5-NN")]
            cells.append("/".join(shown) if all(shown) else "")
        if any(cells):
            table.add(label, *cells)
    if table.rows:
        values = [about["attainable"] for about in joint.sets.values()]
        table.add("attainable", *(f"{v['1-NN']:.2f}/{v['5-NN']:.2f}" for v in values))
        table.add("chance", *(f"{about['chance']:.2f}" for about in joint.sets.values()))
        table.add("total/groups", *(f"{about['sentences']}/{about['groups']}" for about in joint.sets.values()))
        if any("tagger_f1" in about for about in joint.sets.values()):
            found = (about.get("tagger_f1") for about in joint.sets.values())
            table.add("tagger's UPOS F1", *("" if f1 is None else f"{f1:.1f}" for f1 in found))
    return table


def treebank_table(joint: _Joint) -> Table:
    """Table 5 in both readings of the paper, and the correlation beside them."""
    title = "Functional dissimilarity, both matrices as similarities/the paper's literal reading/correlation"
    table = Table(title, ["encoder", *joint.treebanks])
    for label, entries in joint.encoders.items():
        cells = []
        for language in joint.treebanks:
            shown = [_over(entries, ("dissimilarity", language, score), 3) for score in SCORES]
            cells.append("/".join(shown) if all(shown) else "")
        if any(cells):
            table.add(label, *cells)
    if table.rows:
        table.add("a constant", *(f"{about['constant']:.3f}//" for about in joint.treebanks.values()))
        table.add("sentences", *(str(about["sentences"]) for about in joint.treebanks.values()))
        table.notes.append(
            "Dissimilarity: lower is better, in either reading. Correlation of cosine and tag similarity over pairs of "
            "sentences: higher is better, and no scaling of the cosines changes it. A constant: the best matrix that "
            "is the same everywhere, which knows nothing."
        )
    return table


def cross_lingual_table(joint: _Joint, kind: str) -> Table:
    """Means over all ordered pairs of languages, and the tag similarity by the language of the queries."""
    attainable = joint.attainable[kind]
    languages = list(dict.fromkeys(pair.partition("-")[0] for pair in attainable))
    headings = ["encoder", "same tags (%)", "tag similarity", "translation (%)", *(f"from {x}" for x in languages)]
    table = Table(f"The nearest sentence of another language, in {KIND_NAMES[kind]}", headings)

    def cell(found: Sequence[dict[str, Any]], name: str, digits: int, queries: str = "") -> str:
        """Of the means over pairs. A pair without translations has no score of them, and does not count there."""
        start = f"{queries}-" if queries else ""
        of_pairs = [[scores[name] for pair, scores in pairs.items() if pair.startswith(start)] for pairs in found]
        there = [[value for value in values if value is not None] for values in of_pairs]
        means = [statistics.mean(values) for values in there if values]
        return spread(means, digits) if means else ""

    left_out: list[str] = []
    translated = any(about["of_translation"] is not None for about in attainable.values())
    for label, entries in joint.encoders.items():
        found = [entry.get("cross_lingual", {}).get(kind, {}) for entry in entries]
        scores = [pairs for pairs in found if set(pairs) == set(attainable)]
        if len(scores) < len(found):
            left_out.append(label)  # means over other pairs do not compare
        if not scores or not attainable:
            continue
        cells = [cell(scores, "same", 2), cell(scores, "similarity", 4), cell(scores, "translation", 1)]
        table.add(label, *cells, *(cell(scores, "similarity", 3, x) for x in languages))
    if table.rows:

        def bound(name: str) -> list[str]:
            """Cells of all pairs and of those from each language."""
            return [cell([attainable], name, 4), *(cell([attainable], name, 3, x) for x in languages)]

        every, *best = bound("best")
        table.add("best there is", cell([attainable], "same_attainable", 2), every, "", *best)
        if translated:
            every, *parallel = bound("of_translation")
            table.add("the translation", "", every, "100.0", *parallel)
        every, *drawn = bound("chance")
        table.add("drawn at random", "", every, "", *drawn)
        table.notes.append(
            f"Means over {len(attainable)} ordered pairs of languages. Tag similarity: complement of the normalised "
            "Levenshtein distance."
        )
        share = statistics.mean(map(_translated, attainable.values()))
        if translated and share < 100:
            table.notes.append(
                f"On average {share:.1f} % of a pair's queries have a translation. Translation (%) and the row "
                "of the translation count these alone, so that this row can lie above the best there is, which counts "
                "all."
            )
        if left_out:
            table.notes.append(f"Not scored on all pairs, and left out: {', '.join(left_out)}.")
    return table


def _translated(about: dict[str, Any]) -> float:
    """Share of a pair's queries in per cent with a translation. Older records do not say: they count all or none."""
    return float(about.get("translated", 0 if about["of_translation"] is None else 100))


def length_table(joint: _Joint, language: str) -> Table:
    """How long the sentences of a set are, and the accuracy at each length."""
    labels = [label for label, entries in joint.encoders.items() if any("nearest" in entry for entry in entries)]
    table = Table(f"1-NN (%) by length, {language}", ["tags", "sentences", "groups", *labels])
    for length, about in joint.sets[language]["length"].items() if labels else ():
        cells = [_over(joint.encoders[label], ("nearest", language, "length", length, "1-NN"), 1) for label in labels]
        table.add(length, str(about["sentences"]), str(about["groups"]), *cells)
    return table
