"""An export with another vocabulary: the same weights, another table folded in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from fairseq.data import Dictionary

from fairseq_xl.continuous.models.config import DecodingConfig
from fairseq_xl.continuous.models.scorer import VectorScorer
from fairseq_xl.continuous.models.targets import build_table
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import atomic_folder
from fairseq_xl.io.packages import require
from fairseq_xl.translation.exported import folder as files
from fairseq_xl.translation.exported import spec
from fairseq_xl.translation.exported.ctranslate2_export import Parts, finish, gone, write
from fairseq_xl.translation.exported.folding import load_folding
from fairseq_xl.translation.exported.options import Exporting
from fairseq_xl.translation.exported.translator import check_search, load_model
from fairseq_xl.translation.options import Decoding, decoding
from fairseq_xl.vectors.dictionary import read_dictionary


def swap(exporting: Exporting, options: Decoding) -> list[str]:
    """Write an export anew with vectors of other words; words without a vector are never predicted.

    The special tokens keep the vectors that the model was trained with.

    Returns:
        a sentence that says how many words it has.

    Raises:
        InputError: an export whose vocabulary cannot be swapped; an option that it cannot have; vectors that do not
            fit; an output that cannot be written.
    """
    require("ctranslate2", "ctranslate2", "an export")
    folder, vectors, path = exporting.model, exporting.swap_vectors, exporting.swap_dictionary
    if vectors is None or path is None:
        raise InputError(
            f"{folder} is an export already: give its model folder, or --swap-vectors and --swap-dictionary"
        )
    if exporting.sentences is not None:
        raise InputError("--sentences is for the export of a model: a swap compares no translations, so leave it out")
    old = files.read_export(folder)
    if files.FOLDING not in old.files:
        raise InputError(f"{folder} has no table of vectors that it reads and predicts, so none can take its place")
    old = files.read_export(folder, folding=True)
    output, inputs, body = load_folding(folder / files.FOLDING)
    read_dictionary(path)
    dictionary = Dictionary.load(str(path))
    special = dictionary.nspecial
    table = build_table(dictionary, vectors, dim=output.words.shape[1], missing="unk", swap=True)
    words, banned = spec.array(table.table), table.banned.numpy().copy()
    words[:special], banned[:special] = output.words[:special], output.banned[:special]
    words[banned] = 0
    bonus = VectorScorer(DecodingConfig(decode_prior_weight=old.folded["decode_prior_weight"]), dictionary).bonus
    added = np.zeros(len(words), np.float32) if bonus is None else spec.array(bonus)
    added[dictionary.unk()] -= old.folded["unkpen"]
    parts = Parts(replace(output, words=words, banned=banned, added=added), inputs, words, body)
    chosen = decoding(options.given(), old.options)
    check_search(chosen, old.folded)
    kept = {name: value for name, value in chosen.given().items() if name not in gone(old.folded)}
    new = replace(old, compute_type=exporting.compute_type or old.compute_type, options=kept)
    with atomic_folder(exporting.output, files.CONFIG, "an export") as hidden:
        write(hidden, new, parts, files.source_words(folder), dictionary.symbols)
        finish(hidden, folder, new, parts)
        load_model(hidden)
    return [f"{int((~banned).sum()) - 2} words can be predicted, beside the unknown one and the sentence's end"]
