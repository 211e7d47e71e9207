"""What the tables call a system: its loss, and every setting that is not the recipe's default."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

Record = dict[str, Any]

RECIPES_UNITS, RECIPES_RATE, RECIPES_SEARCH = 256, 2e-3, "--max-len-a 1.5 --max-len-b 5"
RECIPES_MARGINS = {"syn_margin_diff": 0.7, "negative_sampling": 0.75, "most_informative_negative": 0.75}
OTHER_MARGINS = 0.5


def on_gpu(record: Record) -> bool:
    return str(record["device"]).startswith("cuda")


def system(record: Record) -> str:
    """Such as "`combined`, targets of a softmax of 3 epochs, which it goes on from, `--unkpen 3`"."""
    return ", ".join(
        [*_beginning(record), *_data(record), *_model(record), *_criterion(record), *_decoding(record)]
        + ["on a GPU"] * on_gpu(record)
    )


def _beginning(record: Record) -> Iterator[str]:
    """The loss, the units of text, and where the target vectors come from."""
    yield from (f"`{record[key]}`" for key in ("loss", "subwords", "transform") if key in record)
    if "targets" not in record:
        return
    targets = f"targets of a {record['targets']}"
    if "target_epochs" in record:
        targets += f" of {record['target_epochs']} epochs"
    if samples := record.get("softmax_negatives"):
        targets += f" with {int(samples):,} samples"
    yield targets
    if "warm_start" in record:
        yield "which it goes on from"


def _data(record: Record) -> Iterator[str]:
    for side in ("source", "target"):
        if least := record.get(f"{side}_min_count"):
            yield f"all {side} words" if least == "1" else f"{side} words seen {least} times"
    if record["loss"].startswith("cross_entropy") and (samples := record.get("softmax_negatives")):
        yield f"{int(samples):,} samples"
    if "teacher" in record:
        yield "distilled"


def _model(record: Record) -> Iterator[str]:
    model = record["training"]["model"]
    if model.get("untie_decoder_input") and "warm_start" not in record:
        yield "decoder input learnt"
    if (scale := model.get("output_scale", 1)) != 1:
        yield f"outputs × {scale:g}"
    units = model.get("encoder_embed_dim", RECIPES_UNITS)
    if "transformer" in model.get("_name", ""):  # ours, or fairseq's own
        yield f"on a Transformer of {units} units"
        return
    if units != RECIPES_UNITS:
        yield f"{units} units"
    rates = record["training"]["optimization"]["lr"]
    if not record["loss"].startswith("stock") and rates != [RECIPES_RATE]:
        yield f"lr {rates[0]:g}"


def _criterion(record: Record) -> Iterator[str]:
    loss, criterion = record["loss"], record["training"]["criterion"]
    margin = RECIPES_MARGINS.get(loss, OTHER_MARGINS)
    if criterion.get("margin", margin) != margin:
        yield f"margin {criterion['margin']:g}"
    if loss == "vmf_posterior" and (samples := criterion["negatives"]):
        yield f"{samples:,} samples"
    if loss == "vmf":
        yield from _vmf(record)
    if not loss.startswith("stock") and (smoothing := criterion.get("label_smoothing")):
        yield f"label smoothing {smoothing:g}"
    if options := criterion.get("main_options"):
        yield f"`{options}`"


def _vmf(record: Record) -> Iterator[str]:
    training = record["training"]
    if training["criterion"]["lambda1"] == 0:
        yield "plain likelihood"
    if training["criterion"].get("form") == "released":
        yield "as released"
    if training["model"].get("decode_score") == "cosine":
        yield "scored by cosine"


def _decoding(record: Record) -> Iterator[str]:
    if record["search"] != RECIPES_SEARCH:
        more = record["search"].removeprefix(RECIPES_SEARCH)
        yield f"`{as_options(more.strip())}`" if more != record["search"] else "decoding tuned"
    if "unknown_words" in record and "test" not in record["scores"]:
        yield "`<unk>` replaced"


def as_options(search: str) -> str:
    """What fairseq-generate was given, where ``--model-overrides`` reads as the options of ``translate text``."""
    before, _, overrides = search.partition("--model-overrides ")
    pairs = re.findall(r"'(\w+)':'?([\w.-]+)", overrides)
    return " ".join([*before.split(), *(f"--{name.replace('_', '-')} {value}" for name, value in pairs)])
