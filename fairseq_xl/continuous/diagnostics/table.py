"""The report of ``fairseq-xl translate diagnose`` for reading."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fairseq_xl.continuous.criteria.mixture import hinge_margin

# Table 2's rows, in its order, then what is ours.
ROWS = {
    "correct prediction: cosine to nearest word": "nearest_when_correct",
    "wrong prediction: cosine to nearest word": "nearest_when_wrong",
    "wrong prediction: cosine to target": "target_when_wrong",
    "all predictions: cosine to target": "target",
}


def lines(report: dict[str, Any]) -> Iterator[str]:
    """The text of a report, checkpoint by checkpoint."""
    for entry in report["checkpoints"]:
        yield from _checkpoint(entry, report)
        yield ""


def _checkpoint(entry: dict[str, Any], report: dict[str, Any]) -> Iterator[str]:
    margin = hinge_margin(entry["criterion"])
    loss = entry["criterion"]["_name"] + ("" if margin is None else f", margin {margin:g}")
    yield f"{entry['checkpoint']}: {loss}, epoch {entry['epoch']}"
    yield (
        f"{report['split']}, {entry['sentences']} sentences ({entry['skipped_sentences']} too long), "
        f"{entry['reference_words']} words; {entry['own_decoding']['hypothesis_words']} decoded"
    )
    forced, own = entry["teacher_forcing"], entry["own_decoding"]
    yield f"  {'':<44} teacher forcing  own decoding"
    yield f"  {'positions':<44} {forced['positions']:>15}  {own['positions']:>12}"
    for label, key in ROWS.items():
        yield f"  {label:<44} {_number(forced[key]):>15}  {_number(own[key]):>12}"
    for n, percent in forced["accuracy"].items():
        other = own["accuracy"][n]
        yield f"  {f'accuracy@{n} (%)':<44} {_number(percent, 2):>15}  {_number(other, 2):>12}"
    geometry = entry["geometry"]
    yield (f"  kappa {_spread(geometry['kappa'])}; beyond 135 degrees: {_percent(geometry['beyond_135_degrees'])}")
    yield f"  {'negative':<20} {'lambda3':>16} {'lambda4':>16} {'hinge active':>13}"
    for name, found in entry["stability"].items():
        three, four = _spread(found["lambda3"]), _spread(found["lambda4"])
        yield f"  {name:<20} {three:>16} {four:>16} {_percent(found['hinge_active']):>13}"
    for name, share in entry["wrong_sharing_nearest_word"].items():
        yield f"  nearest word shared with the {name}: {_percent(share)} of wrong predictions"
    yield f"  hubs among the {report['top']} nearest to"
    for name, found in entry["hubness"].items():
        hubs = ", ".join(f"{word} {count}" for word, count in found["hubs"][:6])
        skewness = _number(found["skewness"], 1)
        yield f"    {name:<12} skewness {skewness:>5}, never {_percent(found['never'])}: {hubs}"
    for word in entry["words"]:
        yield from _word(word)


def _word(word: dict[str, Any]) -> Iterator[str]:
    yield f"  target {word['word']}: {word['positions']} times, {word['wrong']} of them wrong"
    if word["positions"]:
        said = ", ".join(f"{name} {count}" for name, count in word["predicted"])
        yield f"    predicted  {said}"
    mean, which = word["mean_when_wrong"], "the wrong ones"
    if mean is None:
        mean, which = word["mean"], "all"
    for name, near in (mean or {}).items():
        pairs = ", ".join(f"{other} {cosine:.2f}" for other, cosine in near)
        yield f"    near the {name} (mean of {which}): {pairs or 'nothing'}"


def _number(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def _spread(found: dict[str, Any]) -> str:
    if not found["count"]:
        return "-"
    # Adding zero makes −0.000 plain.
    return f"{round(found['mean'], 3) + 0:.3f} ± {found['std']:.3f}"
