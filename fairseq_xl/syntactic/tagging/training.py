"""A part-of-speech tagger from a treebank, trained by spaCy on labels of pieces (see :mod:`.labels`).

Pieces are what spaCy's rules for the language cut, or characters where words are not written apart: Chinese is
segmented by the tagger itself. Korean pieces are what spaces and punctuation separate, as in its treebanks. Nothing
has to be downloaded.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from itertools import chain, islice
from pathlib import Path
from typing import Any

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import atomic_folder
from fairseq_xl.io.lines import read_lines
from fairseq_xl.io.settings import GREATEST_SEED, argument, option
from fairseq_xl.syntactic.data.corpus import Corpus
from fairseq_xl.syntactic.tagging.labels import labels_of
from fairseq_xl.syntactic.tagging.names import names, renamed
from fairseq_xl.syntactic.tagging.tagged_text import kind
from fairseq_xl.syntactic.tagging.taggers import ABOUT, SPACELESS
from fairseq_xl.text.conllu import Sentence, read_conllu

HELD_OUT = 10
"""Every tenth sentence chooses the best epoch where no file is given for that."""

PATIENCE = 3
"""Epochs without a better one after which training ends."""

_CONFIG = """
[nlp]
lang = "xx"
pipeline = ["tagger"]

[components]

[components.tagger]
factory = "tagger"

[components.tagger.model]
@architectures = "spacy.Tagger.v2"
nO = null

[components.tagger.model.tok2vec]
@architectures = "spacy.Tok2Vec.v2"

[components.tagger.model.tok2vec.embed]
@architectures = "spacy.MultiHashEmbed.v2"
width = 96
attrs = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
rows = [5000, 1000, 2500, 2500]
include_static_vectors = false

[components.tagger.model.tok2vec.encode]
@architectures = "spacy.MaxoutWindowEncoder.v2"
width = 96
depth = 4
window_size = 1
maxout_pieces = 3

[training]
dropout = 0.2
max_steps = 0

[training.batcher]
@batchers = "spacy.batch_by_words.v1"
size = 500
tolerance = 0.2

[training.optimizer]
@optimizers = "Adam.v1"
learn_rate = 0.002

[training.score_weights]
tag_acc = 1.0
"""


@dataclass(kw_only=True)
class Training:
    """How a tagger is trained."""

    train: list[Path] = argument("treebanks to train on; a file that is named twice counts twice", metavar="CONLLU")
    language: str = option("language code, such as de", alias="-l")
    valid: list[Path] = option(
        "treebanks that choose the best epoch (default: every tenth sentence of the others, then not trained on)",
        [],
        metavar="CONLLU",
    )
    vectors: Path | None = option(
        "word vectors of the language, trained on text that `pieces` has cut. They stay fixed beside the trained "
        "ones. With a small treebank they teach the tagger words that the treebank lacks",
        None,
        metavar="FILE",
    )
    names: Path | None = option(
        "corpus of `prepare` whose proper names the tagger is to know: they replace those of the treebanks in a second "
        "copy of their sentences. Of use where few names make up much of the text, as in Tatoeba",
        None,
        metavar="CORPUS",
    )
    epochs: int = option("most passes over the treebanks; training ends when three bring nothing", 20, low=1)
    seed: int = option("of start values and order", 1, low=0, high=GREATEST_SEED)


def blank(language: str) -> Any:
    """A spaCy pipeline with nothing but the tokeniser; languages that spaCy has no rules for get its general ones."""
    import spacy
    from spacy.util import get_lang_class

    if language in SPACELESS:
        tokenizer = {"@tokenizers": "spacy.zh.ChineseTokenizer", "segmenter": "char"}
        importlib.import_module("spacy.lang.zh")  # registers that tokeniser
        return spacy.blank("zh" if language == "zh" else "xx", config={"nlp": {"tokenizer": tokenizer}})
    try:
        get_lang_class(language)
    except ImportError:
        language = "xx"
    # Some languages' own tokenisers (Korean, Vietnamese) need further packages and cut otherwise than treebanks.
    return spacy.blank(language, config={"nlp": {"tokenizer": {"@tokenizers": "spacy.Tokenizer.v1"}}})


def _held_out(treebanks: Sequence[Sequence[Sentence]]) -> tuple[list[Sentence], list[Sentence]]:
    """Sentences to train on and to validate on, none of which are equal.

    They are chosen by their place in each file, because the same file in another script has them in the same order.
    """
    valid = [sentence for read in treebanks for sentence in read[HELD_OUT - 1 :: HELD_OUT]]
    known = {sentence.words for sentence in valid}
    rest = (sentence for read in treebanks for place, sentence in enumerate(read, start=1) if place % HELD_OUT)
    return [sentence for sentence in rest if sentence.words not in known], valid


def train_tagger(how: Training, output: Path) -> dict[str, Any]:
    """Train and write the model of the best epoch to a folder, which appears when it is complete.

    Returns what is also written to its ``tagger.json``: settings, sizes, and the share of right labels on the
    validation sentences.

    Raises:
        InputError: an unreadable treebank, a sentence whose text is not its words, too few sentences; a folder that
            holds something else than a tagger.
    """
    from spacy.language import DEFAULT_CONFIG
    from spacy.training.initialize import init_nlp
    from spacy.training.loop import train as train_loop
    from spacy.util import load_config_from_str

    treebanks = [[*_read(path)] for path in how.train]
    if how.valid:
        sentences = [*chain.from_iterable(treebanks)]
        valid = [*chain.from_iterable(map(_read, how.valid))]
    else:
        sentences, valid = _held_out(treebanks)
    if not valid:
        names = ", ".join(map(str, how.train))
        raise InputError(f"{names}: {len(sentences)} sentences are too few for a tagger; give {HELD_OUT} or more")
    if how.names:
        sentences += _renamed(sentences, how.names, how)
    with (
        atomic_folder(output, ABOUT, "a tagger") as made,
        tempfile.TemporaryDirectory(prefix=f".{output.name}.", dir=output.parent) as folder,
    ):
        work = Path(folder)
        nlp = blank(how.language)
        config = DEFAULT_CONFIG.merge(load_config_from_str(_CONFIG))
        config["paths"] |= {"train": str(work / "train.spacy"), "dev": str(work / "dev.spacy")}
        config["system"]["seed"] = how.seed
        config["nlp"] |= {"lang": nlp.lang, "pipeline": ["tagger"], "tokenizer": nlp.config["nlp"]["tokenizer"]}
        words = sum(len(sentence.words) for sentence in sentences)
        updates = max(1, words // config["training"]["batcher"]["size"])
        config["training"] |= {"max_epochs": how.epochs, "eval_frequency": updates, "patience": PATIENCE * updates}
        if how.vectors:
            _with_vectors(nlp, how.vectors).to_disk(work / "vectors")
            config["paths"]["vectors"] = str(work / "vectors")
            config["components"]["tagger"]["model"]["tok2vec"]["embed"]["include_static_vectors"] = True
        for name, split in (("train", sentences), ("dev", valid)):
            _labelled(nlp, split, how.language).to_disk(work / f"{name}.spacy")
        trained = init_nlp(config)
        (work / "out").mkdir()
        train_loop(trained, work / "out", stdout=sys.stderr)
        best = work / "out" / "model-best"
        performance = json.loads((best / "meta.json").read_text(encoding="utf-8"))["performance"]
        about = {
            "version": 1,
            **{each.name: _plain(getattr(how, each.name)) for each in fields(Training)},
            "training_sentences": len(sentences),
            "training_words": words,
            "validation_sentences": len(valid),
            "validation_accuracy_of_labels": round(100 * performance["tag_acc"], 2),
        }
        (best / ABOUT).write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
        os.replace(best, made)
    return about


def sentences(path: Path, language: str) -> Iterator[str]:
    """Of a corpus those of the language, of a treebank all, and the lines of any other file."""
    if path.suffix == ".sqlite":
        with closing(Corpus(path, must_exist=True)) as corpus:
            yield from corpus.sentences(language)
    elif kind(path) == ".conllu":
        yield from (sentence.text for sentence in read_conllu(path))
    else:
        yield from read_lines(path)


def _read(path: Path) -> Iterator[Sentence]:
    """The sentences of a treebank, whose labels are found by comparing text and tokens."""
    for number, sentence in enumerate(read_conllu(path), start=1):
        if "".join(sentence.text.split()) != "".join("".join(sentence.tokens).split()):
            name = f"sentence {number}" + (f" ({sentence.sent_id})" if sentence.sent_id else "")
            raise InputError(
                f"{path}, {name}: its words spell {' '.join(sentence.tokens)!r} and its comment 'text' says "
                f"{sentence.text!r}: mend one of them"
            )
        yield sentence


def _renamed(sentences: Sequence[Sentence], corpus_of_names: Path, how: Training) -> list[Sentence]:
    with closing(Corpus(corpus_of_names, must_exist=True)) as corpus:
        found = names(corpus.pairs("en", how.language))
    draw = random.Random(how.seed)
    copies = [copy for sentence in sentences if (copy := renamed(sentence, found, draw)) is not None]
    print(f"{corpus_of_names}: {len(found)} names of {how.language}, {len(copies)} sentences copied", file=sys.stderr)
    return copies


def _labelled(nlp: Any, sentences: Sequence[Sentence], language: str) -> Any:
    """The sentences as spaCy's training format, a label for each piece."""
    from spacy.tokens import Doc, DocBin

    found = DocBin(attrs=["TAG", "SPACY"])
    for sentence in sentences:
        text = "".join(sentence.text.split()) if language in SPACELESS else sentence.text
        pieces = nlp.make_doc(text)
        words = iter(sentence.upos)
        tags = [list(islice(words, size)) for size in sentence.sizes]
        labels = labels_of([piece.text for piece in pieces], sentence.tokens, tags)
        spaces = [bool(piece.whitespace_) for piece in pieces]
        found.add(Doc(nlp.vocab, words=[piece.text for piece in pieces], spaces=spaces, tags=labels))
    return found


def _with_vectors(nlp: Any, path: Path) -> Any:
    from spacy.vectors import Vectors

    from fairseq_xl.vectors.table import read_vectors

    table = read_vectors(path)
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings, data=table.matrix, keys=list(table.words))
    return nlp


def _plain(value: object) -> object:
    if isinstance(value, Path):
        return value.name
    return [item.name for item in value] if isinstance(value, (list, tuple)) else value
