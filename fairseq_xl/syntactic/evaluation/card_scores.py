"""What a model card says of an encoder's evaluation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fairseq_xl.io.atomic import real_path
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.json_files import opened_json
from fairseq_xl.report.model_card import Score


def card_scores(path: Path, checkpoint: Path) -> list[Score]:
    """A checkpoint's scores in what ``embed evaluate`` wrote.

    They are accuracies of nearest neighbours on groups of sentences with the same tags, and the correlation of
    cosine and tag similarity on treebanks. An encoder that was also transformed is meant as it comes.

    Args:
        path: JSON of ``embed evaluate``.
        checkpoint: of which encoder.

    Raises:
        InputError: no such file, another one, one without the checkpoint or such scores of it, or one that is older.
    """
    with opened_json(path, "record of an evaluation", "name what `fairseq-xl embed evaluate` wrote") as record:
        evaluated = {entry["label"]: entry["spec"] for entry in record["encoders"]}
        found = [entry for entry in record["encoders"] if real_path(Path(entry["spec"])) == real_path(checkpoint)]
        scores = _scores(record, found[0]) if found else []
    if not found:
        known = ", ".join(f"{label} ({spec})" for label, spec in evaluated.items()) or "none"
        raise InputError(f"{path} has no scores of {checkpoint}, but of {known}: evaluate this one")
    if not scores:
        raise InputError(f"{path} has no nearest neighbours or correlations of {checkpoint}: evaluate it by these")
    if checkpoint.exists() and checkpoint.stat().st_mtime > path.stat().st_mtime:
        raise InputError(f"{checkpoint} is newer than its scores in {path}: evaluate it again")
    return scores


def _scores(record: dict[str, Any], entry: dict[str, Any]) -> list[Score]:
    version = f"fairseq_xl:{record['versions']['fairseq_xl']}"

    def signature(about: dict[str, Any], index: str | None = None) -> str:
        of_index = f"index:{index}|" if index else ""
        return f"sentences:{about['sentences']}|sha256:{about['sha256'][:12]}|{of_index}{version}"

    scores = []
    for language, shares in entry.get("nearest", {}).items():
        about = record["texts"]["sets"][language]
        setting, signed = f"{about['groups']} groups of tag sequences", signature(about, record["index"])
        for name in ("1-NN", "5-NN"):
            value = round(shares[name], 1)
            scores.append(Score(about["file"], setting, f"{name} accuracy (%)", "accuracy", value, signed))
    for language, values in entry.get("dissimilarity", {}).items():
        about = record["texts"]["treebanks"][language]
        metric, value = "correlation of cosine and tag similarity", round(values["correlation"], 3)
        scores.append(Score(about["file"], "gold tags", metric, "pearsonr", value, signature(about)))
    return scores
