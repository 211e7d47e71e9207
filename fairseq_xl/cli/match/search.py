"""``fairseq-xl match search``: the questions of a corpus nearest to new ones."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import decode_lines
from fairseq_xl.io.settings import argument, device_option, option, refuse_given, user_dir_option


@dataclass(kw_only=True)
class Search:
    """Print, for each question of standard input, the questions of a corpus that are most likely to mean the same. The
    output has a line of JSON for each question. The corpus is encoded once.
    """

    corpus: Path = argument("a question a line")
    encoder: Path = option(
        "what gives a question its vector: a checkpoint of a siamese_ architecture or infersent, or a folder of "
        "`fairseq-xl embed pack`",
        metavar="MODEL",
    )
    index: Path = option("folder for the corpus's vectors, used again", metavar="DIR")
    rerank: Path | None = option(
        "a pair classifier of any architecture, which judges the nearest", None, metavar="MODEL"
    )
    top: int = option("questions to print", 5, alias="-k", low=1, metavar="N")
    candidates: int = option("nearest vectors that are judged; more find more and take longer", 100, low=1, metavar="N")
    index_kind: str = option(
        "faiss index (extra index): flat is exact; hnsw and ivf are for millions",
        "flat",
        choices=("flat", "hnsw", "ivf"),
    )
    languages: str | None = option(
        "codes of the questions and of the corpus, such as es+en, for models of several languages",
        None,
        metavar="CODE+CODE",
    )
    device: str | None = device_option()
    user_dir: Path | None = user_dir_option()

    def run(self) -> None:
        """Encode what is new, search and print.

        Raises:
            InputError: files or models that cannot be used, an empty question.
        """
        if self.rerank is None:
            refuse_given(self, ["candidates"], "is for --rerank, which is not given")
        import fairseq_xl

        fairseq_xl.register()
        from fairseq_xl.encode.encoder import SentenceEncoder
        from fairseq_xl.encode.search import SentenceIndex
        from fairseq_xl.pairs.data.source import two_codes
        from fairseq_xl.pairs.prediction.predictor import PairPredictor

        languages = two_codes(self.languages, "--languages") if self.languages else None
        encoder = SentenceEncoder.load(self.encoder, self.device)
        index = SentenceIndex(self.index, self.corpus, encoder, self.encoder, self.index_kind, languages)
        judge = None
        if self.rerank:
            judge = partial(PairPredictor.load(self.rerank, device=self.device).judge, languages=languages)
        for number, question in enumerate(decode_lines(sys.stdin.buffer, "standard input"), start=1):
            if not question.strip():
                raise InputError(f"standard input, line {number}: the question is empty: leave it out")
            found = index.search(question, self.top, judge, self.candidates)
            row = {"question": question, "found": [asdict(hit) for hit in found]}
            print(json.dumps(row, ensure_ascii=False), flush=True)
