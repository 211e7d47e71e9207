"""``fairseq-xl embed search``: the sentences of a corpus with the syntax of this one."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import decode_lines
from fairseq_xl.io.settings import argument, device_option, option, user_dir_option


@dataclass(kw_only=True)
class Search:
    """Print, for each sentence of standard input, the sentences of a corpus whose embeddings are nearest. With an
    encoder that was trained to predict tags, these have the most similar syntax, in any language that it knows. The
    output has a line of JSON for each sentence. Sentences that differ from the given one in case or punctuation alone
    are left out. The corpus is encoded once."""

    model: Path = argument("folder that `fairseq-xl embed pack` made, or a checkpoint of fairseq-train")
    corpus: Path = option("text to search, a sentence a line", metavar="FILE")
    index: Path = option("folder for the corpus's vectors, used again", metavar="DIR")
    top: int = option("sentences to print", 10, alias="-k", low=1, metavar="N")
    index_kind: str = option(
        "faiss index (extra index): flat is exact; hnsw and ivf are for millions",
        "flat",
        choices=("flat", "hnsw", "ivf"),
    )
    device: str | None = device_option()
    user_dir: Path | None = user_dir_option()

    def run(self) -> None:
        """Encode what is new, search and print.

        Raises:
            InputError: files or models that cannot be used, an empty sentence.
        """
        import fairseq_xl

        fairseq_xl.register()
        from fairseq_xl.encode.encoder import SentenceEncoder
        from fairseq_xl.encode.search import SentenceIndex
        from fairseq_xl.syntactic.data.filters import folded

        encoder = SentenceEncoder.load(self.model, self.device)
        index = SentenceIndex(self.index, self.corpus, encoder, self.model, self.index_kind)
        folded_texts = Counter(map(folded, index.texts))
        for number, sentence in enumerate(decode_lines(sys.stdin.buffer, "standard input"), start=1):
            if not sentence.strip():
                raise InputError(f"standard input, line {number}: the sentence is empty: leave it out")
            own = folded(sentence)
            hits = index.search(sentence, self.top + folded_texts[own])
            others = [hit for hit in hits if folded(hit.text) != own][: self.top]
            found = [{"line": hit.line, "text": hit.text, "cosine": round(hit.cosine, 6)} for hit in others]
            print(json.dumps({"sentence": sentence, "found": found}, ensure_ascii=False), flush=True)
