"""How right a tagger is on raw text, against gold tags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fairseq_xl.io.packages import require
from fairseq_xl.syntactic.tagging.taggers import Tagger
from fairseq_xl.text.conllu import Sentence


@dataclass(frozen=True)
class Accuracy:
    """Counts over a test set.

    A tagger cuts words itself, so there may be more or fewer tags than in the gold: ``right`` counts the tags of a
    longest common subsequence of both sequences, sentence by sentence.
    """

    sentences: int
    gold_words: int
    tagged_words: int
    right: int
    whole_sentences: int

    @property
    def f1(self) -> float:
        """2 · right / (gold + tagged): the share of right tags where both have the same number of words. It is the
        UPOS F1 of the CoNLL 2018 shared task, but with words aligned by their tags instead of their characters."""
        return 2 * self.right / (self.gold_words + self.tagged_words)

    def as_dict(self) -> dict[str, float | int]:
        return {
            "upos_f1": round(100 * self.f1, 2),
            "whole_sentences": round(100 * self.whole_sentences / self.sentences, 2),
            "sentences": self.sentences,
            "gold_words": self.gold_words,
            "tagged_words": self.tagged_words,
        }


def accuracy(tagger: Tagger, gold: Sequence[Sentence]) -> Accuracy:
    """Tag the text of gold sentences and count. Raises: InputError: rapidfuzz is not installed."""
    common = require("rapidfuzz.distance", "syntactic", "the comparison of tags").LCSseq.similarity
    found = tagger.tag([sentence.text for sentence in gold])
    pairs = [(list(sentence.upos), tags) for sentence, tags in zip(gold, found, strict=True)]
    return Accuracy(
        len(pairs),
        sum(len(upos) for upos, _ in pairs),
        sum(len(tags) for _, tags in pairs),
        sum(common(upos, tags) for upos, tags in pairs),
        sum(upos == tags for upos, tags in pairs),
    )
