"""``fairseq-xl translate pack``: checkpoints and all that translating with them needs, in one folder."""

from __future__ import annotations

from dataclasses import dataclass

import fairseq_xl
from fairseq_xl.translation.options import Decoding
from fairseq_xl.translation.packing import Packing


@dataclass(kw_only=True)
class Pack(Decoding, Packing):
    """Put checkpoints, their dictionaries and the truecaser into one folder, with which fairseq-xl translate text
    turns raw text into raw text wherever it is copied. What only training needs (the optimiser's state) is left out.
    The options of a search and of its output become the folder's defaults. The recipes do this themselves: see
    RUN/model.
    """

    def run(self) -> None:
        fairseq_xl.register()
        from fairseq_xl.translation.packing import pack

        pack(self, self)
        print(f"translate with: fairseq-xl translate text {self.output}")
