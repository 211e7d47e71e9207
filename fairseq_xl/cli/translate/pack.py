"""``fairseq-xl translate pack``: put checkpoints and all that translating with them needs into one folder."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fairseq_xl.io.atomic import atomic_binary
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import atomic_folder
from fairseq_xl.text.pipeline import TOKENISERS
from fairseq_xl.translation.folder import (
    CONFIG,
    ModelFolder,
    checksum,
    dictionary_name,
    subwords_name,
    truecaser_name,
    write_config,
)
from fairseq_xl.vectors.dictionary import read_dictionary


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.description = (
        "Put checkpoints, their dictionaries and the truecaser into one folder, with which fairseq-xl "
        "translate turns raw text into raw text wherever it is copied. What only training needs (the "
        "optimiser's state) is left out. The recipes do this themselves: see RUN/model."
    )
    parser.add_argument(
        "checkpoints",
        nargs="+",
        type=Path,
        metavar="CHECKPOINT",
        help="checkpoint of a translation model; several translate together, as an ensemble",
    )
    parser.add_argument(
        "--data",
        type=Path,
        required=True,
        metavar="DIR",
        help="folder of fairseq-preprocess that the model was trained on, for its dictionaries",
    )
    parser.add_argument("--source-lang", "-s", required=True, metavar="SRC", help="such as de")
    parser.add_argument("--target-lang", "-t", required=True, metavar="TGT", help="such as en")
    parser.add_argument(
        "--tokeniser",
        choices=TOKENISERS,
        default="moses",
        help="how the training text was tokenised (fairseq-xl data tokenize is moses); none: tokens stand "
        "between spaces already (default: moses)",
    )
    parser.add_argument(
        "--truecaser",
        type=Path,
        metavar="FILE",
        help="truecaser of the source side, where the training text was truecased",
    )
    parser.add_argument(
        "--subwords",
        type=Path,
        metavar="FILE",
        help="SentencePiece model of the source side, where the training text was cut into pieces",
    )
    parser.add_argument(
        "--options",
        default="beam=5",
        metavar="'NAME=VALUE …'",
        help="options that translating shall use by default, by fairseq-generate's names, such as "
        "'beam=5 lenpen=0.8 max_len_a=2 max_len_b=5' (default: beam=5)",
    )
    parser.add_argument(
        "--output",
        "-o",
        type=Path,
        required=True,
        metavar="DIR",
        help="folder to write; a model folder of that name is replaced",
    )


def run(args: argparse.Namespace) -> None:
    """Pack."""
    import fairseq_xl

    fairseq_xl.register()
    from fairseq_xl.translation.options import parse

    pack(
        args.output,
        args.checkpoints,
        args.data,
        args.source_lang,
        args.target_lang,
        tokeniser=args.tokeniser,
        truecaser=args.truecaser,
        subwords=args.subwords,
        options=parse(args.options),
    )
    print(f"translate with: fairseq-xl translate text {args.output}")


def pack(
    output: Path,
    checkpoints: Sequence[Path],
    data: Path,
    source_lang: str,
    target_lang: str,
    *,
    tokeniser: str = "moses",
    truecaser: Path | None = None,
    subwords: Path | None = None,
    options: Mapping[str, Any] | None = None,
) -> None:
    """Write a model folder and see that it can be loaded.

    It is made as ``output.tmp`` and renamed, so that ``output`` is there wholly or as it was before.

    Args:
        output: the folder, new, empty or a model folder to replace.
        checkpoints: of fairseq's translation task, all for the dictionaries in ``data``.
        data: folder with ``dict.SOURCE.txt`` and ``dict.TARGET.txt``.
        source_lang, target_lang, tokeniser, truecaser, subwords: see :class:`~fairseq_xl.text.pipeline.Pipeline`.
        options: defaults for translating, by name.

    Raises:
        InputError: a file that is missing or unusable; checkpoints that do not fit the dictionaries; an
            ``output`` that holds something else or cannot be written.
    """
    from fairseq_xl.translation.options import check
    from fairseq_xl.translation.translator import Translator

    chosen = check(options or {})
    for name in ("replace_unk", "nearest_index"):
        if (chosen.search | chosen.nearest).get(name):
            raise InputError(f"{name} names what is not in the folder: give it when translating")
    with atomic_folder(output, CONFIG, "a model") as folder:
        names = [f"model{number}.pt" for number, _ in enumerate(checkpoints, start=1)]
        for checkpoint, name in zip(checkpoints, names, strict=True):
            _copy_model(checkpoint, folder / name)
        checksums = {}
        for language in (source_lang, target_lang):
            name = dictionary_name(language)
            read_dictionary(data / name)
            shutil.copyfile(data / name, folder / name)
            checksums[name] = checksum(folder / name)
        copied = [
            ("truecaser", truecaser, truecaser_name(source_lang)),
            ("subword model", subwords, subwords_name(source_lang)),
        ]
        for what, file, name in copied:
            if file is None:
                continue
            if not file.is_file():
                raise InputError(f"there is no {what} {file}: check the name")
            shutil.copyfile(file, folder / name)
        config = ModelFolder(
            source_lang,
            target_lang,
            tokeniser,
            truecaser is not None,
            subwords is not None,
            names,
            checksums,
            {**chosen.search, **chosen.output, **chosen.nearest},
        )
        write_config(folder, config)
        Translator.load(folder, device="cpu")


def _copy_model(checkpoint: Path, target: Path) -> None:
    """A checkpoint without what only training needs, which is two thirds of it with Adam."""
    import torch

    from fairseq_xl.training import checkpoints
    from fairseq_xl.translation.translator import task_settings

    state = checkpoints.read(checkpoint)
    task_settings(checkpoint, state)
    kept = {key: value for key, value in state.items() if key != "last_optimizer_state"}
    with atomic_binary(target) as file:
        torch.save(kept, file)
