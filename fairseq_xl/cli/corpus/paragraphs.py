"""``fairseq-xl corpus paragraphs``: parallel text of pages whose paragraphs carry the same ids."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import argument, option


@dataclass(kw_only=True)
class Paragraphs:
    """Write what two languages' pages say in elements of the same `id`, as lines FIRST tab SECOND. A translated manual
    keeps these ids, so nothing has to be aligned. Paragraphs that are the same in both languages are left out."""

    first: Path = argument("folder of HTML pages in one language")
    second: Path = argument("folder of the pages of the same relative names in the other")
    output: Path = option("file to write", alias="-o", metavar="TSV")
    sentences: tuple[str, str] | None = option(
        "both languages' codes: paragraphs of as many sentences on either side are cut into these, others left out",
        None,
        metavar=("L", "L"),
    )

    def run(self) -> None:
        """Raises: InputError: a folder that is none, no page or no paragraph in common."""
        from fairseq_xl.corpus.alignment.paragraphs import page_names, pairs
        from fairseq_xl.corpus.documents.extract import SentenceSplitter
        from fairseq_xl.io.atomic import atomic_text
        from fairseq_xl.io.progress import progress_bar

        names = page_names(self.first, self.second)
        splitters = [SentenceSplitter(language) for language in self.sentences or ()]
        counts: Counter[str] = Counter()
        shown = progress_bar("paragraphs", True, None, " pages", names)
        with atomic_text(self.output) as stream:
            for pair in pairs(self.first, self.second, shown, counts, splitters):
                stream.write("\t".join(pair) + "\n")
            if not counts["written"]:
                raise InputError(
                    f"no paragraph of {self.first} has a translation of the same id in {self.second}: align these "
                    "pages with fairseq-xl corpus run"
                )
        print(", ".join(f"{number} {what}" for what, number in counts.items()), file=sys.stderr)
