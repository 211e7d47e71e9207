"""``fairseq-xl translate pack``: checkpoints and all that translating with them needs, in one folder."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

import fairseq_xl
from fairseq_xl.io.settings import user_dir_option
from fairseq_xl.translation.options import Decoding
from fairseq_xl.translation.packing import Packing


@dataclass(kw_only=True)
class Pack(Decoding, Packing):
    """Put checkpoints, their dictionaries and the truecaser into one folder. fairseq-xl translate text translates raw
    text with it, wherever you copy it. The command leaves out the optimiser's state, which only training needs. The
    options of a search and of its output become the folder's defaults. Without them the beam is 5, the length penalty
    1, and a translation has 200 tokens at most. The recipes do this themselves: see RUN/model.
    """

    user_dir: Path | None = user_dir_option()

    def run(self) -> None:
        fairseq_xl.register()
        from fairseq_xl.translation.packing import pack

        pack(self, self)
        print(f"translate with: fairseq-xl translate text {shlex.quote(str(self.output))} --input FILE")
