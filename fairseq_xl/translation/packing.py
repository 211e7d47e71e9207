"""Making a model folder out of what a training left."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import atomic_folder, digest
from fairseq_xl.io.settings import argument, option
from fairseq_xl.report.model_card import NAME, Card, CardOptions, card_scores
from fairseq_xl.translation import options
from fairseq_xl.translation.options import Decoding
from fairseq_xl.vectors.dictionary import read_dictionary


@dataclass(kw_only=True)
class Packing(CardOptions):
    """What goes into a model folder."""

    models: list[Path] = argument(
        "checkpoint of a translation model; several translate together, as an ensemble", metavar="MODEL"
    )
    data: Path = option("data directory that the model was trained on, for its dictionaries", metavar="DIR")
    source_lang: str = option("such as de", alias="-s", metavar="SRC")
    target_lang: str = option("such as en", alias="-t", metavar="TGT")
    tokenizer: str = option(
        "how the training text was tokenised (fairseq-xl data tokenize is moses); none: tokens stand between spaces "
        "already",
        "moses",
        choices=("moses", "none"),
    )
    truecaser: Path | None = option(
        "truecaser of the source side, where the training text was truecased", None, metavar="FILE"
    )
    target_truecased: bool = option(
        "the target side of the training text was truecased, so a translation gets a capital letter. --truecaser says "
        "so as well: give this where the source language has no case",
        False,
    )
    subwords: Path | None = option(
        "SentencePiece model of the source side, where the training text was cut into pieces", None, metavar="FILE"
    )
    target_words: bool = option("the target side is of words, where --subwords cut the source side alone", False)
    output: Path = option("folder to write; a model folder of that name is replaced", alias="-o", metavar="DIR")


def pack(packing: Packing, decoding: Decoding) -> None:
    """Write a model folder and see that it can be loaded; ``output`` is there wholly or as it was before.

    Args:
        packing: what goes into it.
        decoding: defaults for translating.

    Raises:
        InputError: a file that is missing or unusable; checkpoints that do not fit the dictionaries; an
            ``output`` that holds something else or cannot be written.
    """
    # what needs torch and fairseq: the settings above are read by every --help
    from fairseq_xl.training import packed
    from fairseq_xl.translation import folder as names
    from fairseq_xl.translation.translator import Translator

    # or a refusal, before anything is written
    chosen = options.decoding(decoding.given()).given()
    card = packing.asked_for
    scores = card_scores(packing.record) if packing.record else []
    with atomic_folder(packing.output, names.CONFIG, "a model") as folder:
        checkpoints = [f"model{number}{packed.SUFFIX}" for number, _ in enumerate(packing.models, start=1)]
        for model, name in zip(packing.models, checkpoints, strict=True):
            _copy_model(model, folder / name, packing)
        for language in (packing.source_lang, packing.target_lang):
            name = names.dictionary_name(language)
            read_dictionary(packing.data / name)
            shutil.copyfile(packing.data / name, folder / name)
        for what, file, name in (
            ("truecaser", packing.truecaser, names.truecaser_name(packing.source_lang)),
            ("subword model", packing.subwords, names.subwords_name(packing.source_lang)),
        ):
            if file is not None:
                if not file.is_file():
                    raise InputError(f"there is no {what} {file}: check the name")
                shutil.copyfile(file, folder / name)
        config = names.ModelFolder(
            source_lang=packing.source_lang,
            target_lang=packing.target_lang,
            tokenizer=packing.tokenizer,
            truecase=packing.truecaser is not None,
            subwords=packing.subwords is not None,
            target_words=packing.target_words,
            target_truecased=packing.target_truecased,
            checkpoints=checkpoints,
            files={path.name: digest(path) for path in sorted(folder.iterdir())},
            options=chosen,
        )
        names.write_config(folder, config)
        Translator.load(folder, device="cpu")
        if card:
            with atomic_text(folder / NAME) as stream:
                stream.write(_card(packing).text(packing, scores))


def _card(packing: Packing) -> Card:
    languages = packing.source_lang, packing.target_lang
    return Card(
        title=f"Translation from {languages[0]} to {languages[1]}",
        task="translation",
        languages=languages,
        does=f"Translates raw text from {languages[0]} to {languages[1]}, with fairseq_xl. The folder holds the "
        "weights as safetensors, both dictionaries and all steps of the text. Loading it runs no code of its own.",
        loading="""
from fairseq_xl import Translator
translator = Translator.load("OWNER/MODEL")  # this folder, or its name on the Hub
print(translator.translate(["…"])[0])
""",
    )


def _copy_model(checkpoint: Path, target: Path, packing: Packing) -> None:
    """A checkpoint's weights without what only training needs, which is two thirds of it with Adam."""
    from fairseq_xl.training import checkpoints, packed
    from fairseq_xl.translation.fairseq_search import task_settings

    state = checkpoints.read(checkpoint)
    task = task_settings(checkpoint, state)
    trained, given = (task.get("source_lang"), task.get("target_lang")), (packing.source_lang, packing.target_lang)
    if trained == given[::-1] != given:  # with one dictionary for both sides nothing else would show it
        raise InputError(
            f"{checkpoint} translates from {trained[0]} to {trained[1]}, not from {given[0]} to {given[1]}: exchange "
            "--source-lang and --target-lang"
        )
    checkpoints.refuse_nan(checkpoint, state)
    packed.write(target, state)
