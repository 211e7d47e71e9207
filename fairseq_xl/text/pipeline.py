"""From raw text to the tokens that a model was trained on, and from its tokens back to raw text."""

from __future__ import annotations

from dataclasses import dataclass

from fairseq_xl.text import subwords
from fairseq_xl.text.parallel import INNER_LINE_BREAKS

TOKENIZERS = ("moses", "none")


@dataclass(frozen=True)
class Pipeline:
    """The steps of ``fairseq-xl data`` that the recipes take, for one line at a time.

    source_lang, target_lang: language codes, which choose Moses' rules
    tokenizer:  ``moses``, or ``none`` for text whose tokens stand between spaces already
    truecaser:  model file for the source side; without one, its case stays as it is
    pieces:     SentencePiece model file for the source side; without one, tokens are words on both sides
    target_words: the target side is of words, whatever the source side is of
    target_truecased: translations begin in the case of their first word, as they do with a ``truecaser``, too
    """

    source_lang: str
    target_lang: str
    tokenizer: str = "moses"
    truecaser: str | None = None
    pieces: str | None = None
    target_words: bool = False
    target_truecased: bool = False

    @property
    def by_moses(self) -> bool:
        """Whether any step is of Moses' scripts."""
        return self.tokenizer == "moses" or self.truecaser is not None or self.target_truecased

    def tokens(self, line: str) -> list[str]:
        """The tokens of a raw source line; none for a blank one.

        Raises :class:`~fairseq_xl.io.errors.InputError` for a truecaser or subword model that cannot be read.
        """
        line = INNER_LINE_BREAKS.sub(" ", line).strip()
        if self.by_moses:
            from fairseq_xl.text import moses  # which takes a third of a second

            if self.tokenizer == "moses":
                line = moses.tokenize(line, self.source_lang)
            if self.truecaser is not None:
                line = moses.truecase(line, self.truecaser)
        if self.pieces is not None:
            line = subwords.encode(line, self.pieces)
        return line.split()

    def text(self, tokens: list[str]) -> str:
        """The raw text of a translation's tokens."""
        line = " ".join(tokens)
        if self.pieces is not None and not self.target_words:
            line = subwords.decode(line)
        if self.by_moses:
            from fairseq_xl.text import moses

            if self.truecaser is not None or self.target_truecased:
                line = moses.detruecase(line)
            if self.tokenizer == "moses":
                line = moses.detokenize(line, self.target_lang)
        return line
