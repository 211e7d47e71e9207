"""Another vocabulary in an export: folding another table."""

from __future__ import annotations

import re
import shutil

import numpy as np
import pytest
from fairseq import checkpoint_utils
from fairseq.data import Dictionary

from fairseq_xl import Translator
from fairseq_xl.continuous.nearest.task import ContinuousTranslationTask
from fairseq_xl.translation.exported.folder import read_export
from fairseq_xl.translation.fairseq_search import FairseqTranslator
from fairseq_xl.translation.options import decoding

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def words(work, exported, tmp_path_factory):
    """A dictionary and vectors of other words, which lie where the trained ones do, and of one without a vector."""
    folder = tmp_path_factory.mktemp("words")
    old = Dictionary.load(str(work / "bin" / "dict.en.txt"))
    names = [old[i] for i in range(old.nspecial, len(old)) if not old[i].startswith("madeupword")]
    with np.load(exported / "vectors" / "folding.npz") as arrays:
        table = arrays["words"]
    rows = [f"{name.upper()} " + " ".join(map(str, table[old.index(name)])) for name in reversed(names)]
    (folder / "new.vec").write_text(f"{len(rows)} {table.shape[1]}\n" + "\n".join(rows) + "\n")
    lines = [f"{name.upper()} {count}\n" for count, name in enumerate(reversed(names), 3)]
    (folder / "dict.txt").write_text("".join(lines) + "xylograph 1\n")
    return folder


def test_an_export_with_other_words(export, exported, words, work, transformers, raw, tmp_path):
    given = ["--swap-vectors", words / "new.vec", "--swap-dictionary", words / "dict.txt"]
    status, out, _ = export(exported / "vectors", tmp_path / "new", *given, "--beam", 1)
    assert status == 0
    count = len((words / "dict.txt").read_text().splitlines()) - 1
    assert out.startswith(f"{count} words can be predicted, beside the unknown one and the sentence's end\n")
    swapped = Translator.load(tmp_path / "new")
    found = [best.tokens for (best,) in swapped.candidates(raw)]
    before = [best.tokens for (best,) in Translator.load(exported / "vectors", beam=1).candidates(raw)]
    assert found == [[token if token == "<unk>" else token.upper() for token in tokens] for tokens in before]
    # as the model itself swaps them
    old = FairseqTranslator.open(transformers / "model" / "vectors", "cpu", 2000, {})
    task = ContinuousTranslationTask(old.task.cfg, old.task.source_dictionary, Dictionary.load(str(words / "dict.txt")))
    path = str(transformers / "vectors" / "checkpoint_last.pt")
    overrides = {"swap_vectors": str(words / "new.vec"), "missing_vectors": "unk"}
    models, _ = checkpoint_utils.load_model_ensemble([path], overrides, task)
    model = FairseqTranslator(old.pipeline, task, models, decoding({"beam": 1}), old.device)
    assert found == [best.tokens for (best,) in model.candidates(raw)]
    # and once more, from the new export, in eight bits
    status, _, _ = export(tmp_path / "new", tmp_path / "again", *given, "--beam", 1, "--compute-type", "int8")
    assert status == 0
    assert len(Translator.load(tmp_path / "again").translate(raw)) == len(raw)
    # which stay eight where nothing else is asked for
    assert export(tmp_path / "again", tmp_path / "third", *given)[0] == 0
    assert read_export(tmp_path / "third").compute_type == "int8"


def test_a_swap_keeps_the_penalty_of_unknown_words(export, words, raw, tmp_path):
    """One below 0 is a bonus, by which nothing else is said."""
    assert export("vectors", tmp_path / "old", "--unkpen", -1000, "--beam", 1)[0] == 0
    given = ["--swap-vectors", words / "new.vec", "--swap-dictionary", words / "dict.txt"]
    assert export(tmp_path / "old", tmp_path / "new", *given)[0] == 0
    said = {token for (best,) in Translator.load(tmp_path / "new").candidates(raw) for token in best.tokens}
    assert said == {"<unk>"}


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("vectors", [], "is an export already: give its model folder, or --swap-vectors and --swap-dictionary"),
        ("words", ["VEC", "DICT"], "has no table of vectors that it reads and predicts"),
        ("vectors", ["VEC", "NOWHERE"], "there is no dictionary"),
        ("vectors", ["VEC", "DICT", "--temperature", "2"], "temperature is 1.0 in this export, not 2.0"),
        ("vectors", ["NARROW", "DICT"], "dimension"),
        ("vectors", ["VEC", "DICT", "--sentences", "x"], "--sentences is for the export of a model"),
    ],
)
def test_what_cannot_be_swapped_is_told_in_one_sentence(export, exported, words, tmp_path, name, given, message):
    (tmp_path / "narrow.vec").write_text("1 2\nDOG 0.1 0.2\n")
    paths = {"VEC": words / "new.vec", "DICT": words / "dict.txt", "NARROW": tmp_path / "narrow.vec"}
    options = zip(("--swap-vectors", "--swap-dictionary"), given, strict=False)
    arguments = [word for option, key in options for word in (option, paths.get(key, tmp_path / "nowhere"))]
    arguments += given[2:]
    status, out, err = export(exported / name, tmp_path / "new", *arguments)
    assert (status, out) == (2, "")
    assert re.search(message, err)
    assert err.count("\n") == 1
    assert not (tmp_path / "new").exists()


def test_a_damaged_table_is_refused(export, exported, words, tmp_path):
    copy = shutil.copytree(exported / "vectors", tmp_path / "copy")
    (copy / "folding.npz").write_bytes(b"PK")
    given = ["--swap-vectors", words / "new.vec", "--swap-dictionary", words / "dict.txt"]
    status, _, err = export(copy, tmp_path / "new", *given)
    assert status == 2
    assert "folding.npz is not as it was written" in err
