"""Writing a Transformer for CTranslate2 from a model folder."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from fairseq_xl.continuous.models.transformer import ContinuousTransformer
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import atomic_folder
from fairseq_xl.io.packages import require
from fairseq_xl.translation.exported import check, spec
from fairseq_xl.translation.exported import folder as files
from fairseq_xl.translation.exported.folding import Output, save_folding
from fairseq_xl.translation.exported.options import Exporting
from fairseq_xl.translation.exported.translator import BEAM, ExportedTranslator, check_search, load_model
from fairseq_xl.translation.fairseq_search import FairseqTranslator
from fairseq_xl.translation.folder import read_config
from fairseq_xl.translation.options import Decoding, NearestWords, decoding


@dataclass(frozen=True)
class Parts:
    """What a model is folded from: its output, what brings words to the decoder, all other weights by name.

    inputs: (C, d), what multiplies the decoder's words
    read: (V, d), those words: the table itself unless the input is not tied to it
    """

    output: Output
    inputs: np.ndarray
    read: np.ndarray
    body: spec.Weights

    def weights(self) -> spec.Weights:
        """All of them by CTranslate2's names."""
        weight, bias = self.output.folded()
        own = {"decoder/projection/weight": weight, "decoder/projection/bias": bias}
        return {**self.body, **own, "decoder/embeddings/weight": self.read @ self.inputs.T}


def export(exporting: Exporting, options: Decoding) -> list[str]:
    """Write a model as a folder for CTranslate2, once it has been seen to translate alike.

    Args:
        exporting: what is written.
        options: of the search and the output; they go before the model folder's own.

    Returns:
        sentences that say how the two compare.

    Raises:
        InputError: no model folder; a model or an option that does not fold; an export that translates otherwise;
            an output that cannot be written.
    """
    require("ctranslate2", "ctranslate2", "an export")
    config = read_config(exporting.model)
    chosen = decoding(options.given(), config.options)
    chosen.beam = chosen.beam or BEAM
    original = FairseqTranslator.open(exporting.model, "cpu", 2000, options.given())
    if len(original.models) > 1:
        raise InputError(f"{exporting.model} is an ensemble of {len(original.models)} models, which do not fold")
    (model,) = original.models
    folded = _folded(model, chosen)
    check_search(chosen, folded)
    parts = parts_of(model, original.task.target_dictionary, folded)
    compute_type = exporting.compute_type or "float32"
    sources = check.sentences(original, exporting.sentences)
    kept = {name: value for name, value in chosen.given().items() if name not in gone(folded)}
    described = files.Export(
        **config.steps(),
        architecture=spec.architecture(model),
        folded=folded,
        compute_type=compute_type,
        positions=[original.longest, int(original.generator.max_len)],
        options=kept,
    )
    with atomic_folder(exporting.output, files.CONFIG, "an export") as folder:
        words = original.task.source_dictionary.symbols, original.task.target_dictionary.symbols
        write(folder, replace(described, compute_type="float32"), parts, *words)
        lines = _compared(original, folder, described, chosen, sources)
        if compute_type != "float32":
            exact = _greedy(folder, described, chosen)
            write(folder, described, parts, *words)
            small = _greedy(folder, described, chosen)
            lines.append(check.compare_types(exact, small, sources, compute_type))
        finish(folder, exporting.model, described, parts if _is_swappable(model) else None)
    return lines


def _folded(model: Any, chosen: Decoding) -> dict[str, Any]:
    """The options that the output layer holds. Raises: InputError: a model or an option that does not fold."""
    if not isinstance(model, ContinuousTransformer):
        raise InputError(
            f"a {type(model).__name__} does not fold: an export is made of a continuous_transformer, with vectors or "
            "a softmax. Export a continuous_lstm with --format onnx, and fairseq's own Transformers with "
            "ct2-fairseq-converter"
        )
    scorer = model.decoder.scorer
    folded = {
        "decode_score": "softmax" if scorer is None else scorer.score,
        "decode_prior_weight": 0.0 if scorer is None else scorer.prior_weight,
        "temperature": 1.0 if chosen.temperature is None else chosen.temperature,
        "unkpen": 0.0 if chosen.unkpen is None else chosen.unkpen,
    }
    if folded["decode_score"] == "vmf_density":
        raise InputError("decode_score vmf_density does not fold: say vmf_posterior, which ranks words alike")
    if scorer is not None and scorer.csls_weight:
        raise InputError(
            f"decode_csls_weight {scorer.csls_weight:g} does not fold: it is subtracted from cosines, which an output "
            "layer has not; say 0"
        )
    if folded["decode_score"] == "cosine":
        if model.decoder.targets.bias is not None:
            raise InputError("a model with --word-bias does not fold beside decode_score cosine: say vmf_posterior")
        for name in ("decode_prior_weight", "unkpen"):
            if folded[name]:
                raise InputError(
                    f"{name} {folded[name]:g} does not fold beside decode_score cosine, whose logits an output layer "
                    "has not: say 0, or decode_score vmf_posterior"
                )
    return folded


def gone(folded: Mapping[str, Any]) -> set[str]:
    """Options that mean nothing to the export any more."""
    return {*folded, "decode_scale", "decode_csls_weight", *(each.name for each in fields(NearestWords))}


def parts_of(model: ContinuousTransformer, dictionary: Any, folded: Mapping[str, Any]) -> Parts:
    """A model's parts, from its target dictionary and the options to fold in."""
    decoder, array, temperature = model.decoder, spec.array, folded["temperature"]
    targets, projection, embedded = decoder.targets, decoder.output_projection, decoder.embed_tokens
    words = array(decoder.softmax_weight if targets is None else targets.table)
    banned, added = np.zeros(len(words), dtype=bool), np.zeros(len(words), dtype=np.float32)
    banned[dictionary.pad()] = True  # which a search never writes
    if targets is None:
        added += array(decoder.softmax_bias) / temperature
    else:
        banned |= targets.banned.cpu().numpy()
        bonus = decoder.scorer.word_bonus(targets)
        if bonus is not None:
            added += array(bonus)
    added[dictionary.unk()] -= folded["unkpen"]
    scale = decoder.output_scale / temperature
    output = Output(words, banned, array(projection.weight), array(projection.bias), scale, added)
    read = words if embedded.words is None else array(embedded.words.weight)
    return Parts(output, array(embedded.projection.weight), read, spec.body(model))


def _is_swappable(model: ContinuousTransformer) -> bool:
    """Whether what the decoder reads and predicts is one table, and no word has a bias of its own."""
    targets = model.decoder.targets
    return targets is not None and targets.bias is None and model.decoder.embed_tokens.words is None


def write(folder: Path, described: files.Export, parts: Parts, source: list[str], target: list[str]) -> None:
    """Write CTranslate2's files of a model with these dictionaries."""
    spec.write_model(folder, described.architecture, parts.weights(), source, target, described.compute_type)


def _compared(
    original: FairseqTranslator, folder: Path, described: files.Export, chosen: Decoding, sources: list[list[str]]
) -> list[str]:
    folded = described.folded
    reference = check.Reference(original, folded["temperature"], folded["unkpen"])
    alone = replace(chosen, beam=1)
    greedy = FairseqTranslator(original.pipeline, original.task, original.models, alone, original.device)
    exported = _greedy(folder, described, chosen)
    lines = check.compare_greedy(reference, greedy, exported, sources)
    if folded["decode_score"] == "cosine":
        lines.append("scores are those of the posterior; an output layer cannot give the cosine's")
    if exported.beam != original.beam:
        beams = ExportedTranslator(original.pipeline, exported.model, chosen, described.positions)
        lines += check.compare_beams(reference, original, beams, sources)
    return lines


def _greedy(folder: Path, described: files.Export, chosen: Decoding) -> ExportedTranslator:
    alone = replace(chosen, beam=1)
    return ExportedTranslator(described.pipeline(folder), load_model(folder), alone, described.positions)


def finish(folder: Path, steps: Path, described: files.Export, parts: Parts | None) -> None:
    """Write what lies beside CTranslate2's files.

    Args:
        folder: where to.
        steps: folder that holds the text steps' files.
        described: what ``export.json`` shall say.
        parts: of a model whose vocabulary can be swapped.
    """
    for name in described.step_files():
        shutil.copyfile(steps / name, folder / name)
    if parts is not None:
        save_folding(folder / files.FOLDING, parts.output, parts.inputs, parts.body)
    files.write_export(folder, described)
