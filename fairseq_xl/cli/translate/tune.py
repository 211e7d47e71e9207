"""``fairseq-xl translate tune``: choose decoding options on the development set."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import fairseq_xl
from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.settings import argument, device_option, option, user_dir_option
from fairseq_xl.translation.tuning.points import Tuning


@dataclass(kw_only=True)
class Tune(Tuning):
    """Choose decoding options of a translation model on the development set, by BLEU of tokenised output against the
    tokenised reference. A word that the dictionary lacks never matches the reference, and <unk> counts as three wrong
    tokens. This BLEU is sacreBLEU's without a tokeniser of its own, so compare it only with itself. For continuous
    outputs the command tries the decoding score, its sharpness, the CSLS weight and the penalty of unknown words, and
    all again. The sharpness is --decode-scale for the cosine, and fairseq's --temperature for vmf_posterior, where it
    divides kappa. For a softmax the command tries the --temperature and that penalty. It reads fairseq's length penalty
    off each decoding. It prints a table, and the options to paste after fairseq-generate, fairseq-xl translate and the
    recipes.
    """

    model: Path = argument("checkpoint of a translation model")
    data: Path = option("data directory made by fairseq-preprocess", metavar="DIR")
    results: Path = option(
        "file to keep each decoding's outcome in. An interrupted search continues from it", metavar="FILE", writes=True
    )
    choice: Path | None = option(
        "file to write the chosen options to, as the recipes' --search takes them", None, metavar="FILE", writes=True
    )
    device: str | None = device_option()
    user_dir: Path | None = user_dir_option()

    def run(self) -> None:
        """Search, and print the table and the options."""
        fairseq_xl.register()
        from fairseq_xl.continuous.models.loading import load_model
        from fairseq_xl.translation.tuning import choice, decoding
        from fairseq_xl.translation.tuning.results import Results
        from fairseq_xl.translation.tuning.search import tune

        model, task = load_model(self.model, self.data, self.device)
        decode = decoding.decoder(model, task, self)
        self.results.parent.mkdir(parents=True, exist_ok=True)
        results = Results(self.results, decoding.dependencies(self.model, self.data, self))
        start = decoding.as_saved(model, self.beam)
        best, found = tune(start, results, decode)
        options = choice.chosen(best, *found[best], self)
        if self.choice:
            with atomic_text(self.choice) as stream:
                stream.write(f"{choice.search_option(options)}\n")
        print("\n".join([*choice.table(found, start, best), *choice.paste(options)]))
