"""How a data directory is made: the options of ``fairseq-xl classify prepare``."""

from __future__ import annotations

from dataclasses import dataclass

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import GREATEST_SEED, check, option, refuse_given

SIDES = ("low", "high")
"""The low-resource language, which is classified, and the high-resource one, whose labels help."""


@dataclass(kw_only=True)
class Settings:
    """Which labelled text becomes a data directory, and how.

    A source is a line for :mod:`fairseq_xl.io.labelled`. Empty ``classes`` are all of the low-resource language's
    training text, in the order of their names.
    """

    low_resource: list[str] = option("labelled text of the language to classify", metavar="SOURCE")
    high_resource: list[str] = option(
        "labelled text of the high-resource language, or of several languages; without it pairs are "
        "monolingual. With lexicon=FILE (as `data lexicon` writes it, from that language into the low-resource one) "
        "its words are replaced by their translations",
        [],
        metavar="SOURCE",
    )
    languages: list[str] = option(
        "codes of the low- and the high-resource language, such as te en, for reports", list(SIDES), metavar="CODE"
    )
    classes: list[str] = option(
        "the classes to tell apart",
        [],
        metavar="CLASS",
        shown="all in the low-resource language's training text",
    )
    class_source: list[str] = option(
        "labelled text whose classes these are, instead of the low-resource language's training text: for a "
        "classifier whose classes another language is to have",
        [],
        metavar="SOURCE",
    )
    most_frequent: int = option(
        "of these the low-resource language's N most frequent; texts of others are left out",
        0,
        low=0,
        metavar="N",
        shown="all",
    )
    shared: bool = option("of these only the classes that all the training texts have", False)
    others: str = option("what to do with a text of another class", "error", choices=("error", "drop"))
    ngrams: list[int] = option(
        "lengths of the character n-grams, the longest first: 3 is the paper's, 3 2 1 adds shorter ones at each place",
        [3],
        low=1,
        metavar="N",
    )
    lower: bool = option("fold case", False)
    min_count: int = option(
        "n-grams seen less often count as unseen; 2 gives the model practice with unseen ones", 1, low=1, metavar="N"
    )
    morphemes: list[str] = option(
        "segment the words of these sides with Morfessor before the n-grams are taken", [], choices=SIDES
    )
    vectors: list[str] = option(
        "word vectors of the low- and the high-resource language in one space, as `vectors align` writes them. The "
        "embedding of an n-gram then begins as the mean of the words that hold it (ssc_bilstm --embed-dim 0)",
        [],
        metavar="FILE",
    )
    valid_share: float = option(
        "share of the low-resource language's training text for development, where no source is split=valid. Give "
        "more where that text is small: otherwise chance chooses the best checkpoint",
        0.1,
        low=0,
        high=1,
        metavar="X",
    )
    test_share: float = option("the same for the test, where no source is split=test", 0.1, low=0, high=1, metavar="X")
    seed: int = option("of the split", 1, low=0, high=GREATEST_SEED)
    low_resource_size: int = option(
        "use N of the low-resource language's training texts, which are among those of every larger N",
        0,
        low=0,
        metavar="N",
        shown="all",
    )
    high_resource_size: int = option("the same for the high-resource language", 0, low=0, metavar="N", shown="all")
    shuffle_high_resource: bool = option(
        "control: deal the high-resource language's classes out at random; a gain that survives this is no transfer",
        False,
    )
    shuffle_lexicon: bool = option(
        "control: deal the translations of lexicon=FILE out among its words at random; a gain that survives this is no "
        "evidence of words",
        False,
    )
    shuffle_vectors: bool = option(
        "control: deal the high-resource language's word vectors out among its words at random; a gain that survives "
        "this is none of one space",
        False,
    )

    def check(self) -> None:
        """Raises: InputError: values that make no sense, alone or together."""
        check(self)
        if self.valid_share + self.test_share >= 1:
            raise InputError("--valid-share and --test-share are shares from 0, together below 1")
        if sorted(set(self.ngrams), reverse=True) != self.ngrams:
            raise InputError("--ngrams takes different lengths from 1, the longest first, such as 3 2 1")
        if not 1 + bool(self.high_resource) <= len(self.languages) <= 2:
            raise InputError(
                f"--languages {' '.join(self.languages)}: name the low-resource language and the high-resource one"
            )
        if len(self.vectors) > 1 + bool(self.high_resource):
            raise InputError(
                f"--vectors {' '.join(self.vectors)}: name a file for the low-resource language and one for the "
                "high-resource one, where there is one"
            )
        if self.classes:
            refuse_given(self, ["class_source", "most_frequent", "shared"], "chooses classes, and --classes names them")
        if not self.high_resource:
            of_high = ["high_resource_size", "shuffle_high_resource", "shuffle_lexicon"]
            refuse_given(self, of_high, "is for --high-resource text, and there is none")
            if "high" in self.morphemes:
                raise InputError("--morphemes high: there is no --high-resource text to segment")
        if self.shuffle_vectors and len(self.vectors) < 2:
            raise InputError("--shuffle-vectors: --vectors names no file for the high-resource language")

    def size(self, side: str) -> int:
        """How many training texts of one side are used; 0 for all."""
        return self.low_resource_size if side == "low" else self.high_resource_size
