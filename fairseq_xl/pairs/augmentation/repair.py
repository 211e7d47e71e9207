"""Words without a vector become words with one (Hadgu 2018, section 3.1). A word that has a vector never changes.

The rules apply in this order, and the first that finds a word decides:

accents   the vocabulary has the word with other accents: cupon → cupón, trabajais → trabajáis
spelling  the vocabulary has a word that sounds the same to those who write Spanish by ear: recivido → recibido
doubled   the vocabulary has the word with other letters doubled: reembolsso → reembolso
joined    two words were written as one, or one with a mark inside: porfavor → por favor, e-mail → email
near      a word of the same texts is a letter away, or two in a long one: reemboloso → reembolso

The first three rules fold words, so that spellings of one word have one form. Of several words of the vocabulary the
most frequent wins. Two rules guess: a near word, and two words that no mark separates. A guess must therefore be much
more frequent in the texts than the word it replaces.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import regex

from fairseq_xl.io.settings import option

RULES = ("accents", "spelling", "doubled", "joined", "near")
LANGUAGES = ("es",)
"""Languages whose spelling confusions are known. Others do without the rule."""

# How Spanish words sound in Latin America. Each rule writes in one way what is written in several ways. Their order
# counts.
_SPANISH = [
    (regex.compile(pattern), sound)
    for pattern, sound in (
        ("ch", "ĉ"),
        ("ph", "f"),
        ("h", ""),
        ("v|w", "b"),
        ("ll|(?<=[aeiou])y(?=[aeiou])|^y(?=[aeiou])|^i(?=e)", "y"),
        ("y$", "i"),
        ("qu(?=[ei])|q|c(?![ei])", "k"),
        ("gü(?=[ei])", "gu"),
        ("gu(?=[ei])", "ĝ"),
        ("g(?=[ei])|j", "x"),
        ("[cz]", "s"),
        ("n(?=[bp])", "m"),
    )
]
# Above, x stands for the sound of j, so a written x must be replaced before that: exelente, esperar for expectar.
_WRITTEN_X = regex.compile("xc(?=[ei])|x")
_MARKS = regex.compile(r"['’\-.,]")


def without_accents(word: str) -> str:
    """The word without its accents. ñ becomes n, too."""
    letters = unicodedata.normalize("NFD", word)
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def spanish_sound(word: str) -> str:
    """Words of equal result sound the same, for those who hear no accents.

    The confusions are b and v; silent h; ll and y; c, s and z; g and j. Others are qu and k; x and s; n and m before
    b and p.
    """
    sound = _WRITTEN_X.sub("s", without_accents(word.replace("ü", "u")))
    for pattern, letter in _SPANISH:
        sound = pattern.sub(letter, sound)
    return sound


def without_doubles(word: str) -> str:
    """The word without accents, and with each letter that stands several times in a row written once."""
    return "".join(letter for letter, _ in itertools.groupby(without_accents(word)))


@dataclass(kw_only=True)
class RepairSettings:
    """Which words are repaired."""

    language: str | None = option(
        "language of the texts, whose spelling confusions are known. Without it the rule spelling does not apply",
        None,
        choices=LANGUAGES,
    )
    without: list[str] = option("switch rules off", [], choices=RULES, metavar="RULE")
    times: int = option(
        "a near word, or two words for one, must be N times as frequent in the files as the word they replace. Raise "
        "it where good rare words are replaced",
        10,
        low=1,
        metavar="N",
    )
    lengths: tuple[int, int, int] = option(
        "shortest word to repair: by spelling and doubled, by a near word one letter away, and by one two letters "
        "away. Raise them where good short words are changed",
        (4, 5, 12),
        low=1,
        metavar="N",
    )


class Repair:
    """The repairs of the words of some texts.

    Args:
        vocabulary: words with a vector and their ranks, the most frequent first.
        counts: the words of the texts and how often they occur.
        neighbours: words that stand side by side in the texts, and how often.
        settings: see there.
        keep: words that stay as they are.
    """

    def __init__(
        self,
        vocabulary: Mapping[str, int],
        counts: Counter[str],
        neighbours: Counter[tuple[str, str]],
        settings: RepairSettings,
        keep: Collection[str] = (),
    ):
        self.vocabulary, self.counts, self.neighbours = vocabulary, counts, neighbours
        self.times, self.lengths = settings.times, settings.lengths
        # A word with a digit is an order's number or a model's name.
        self.unknown = {
            word for word in counts if word not in vocabulary and word not in keep and not regex.search(r"\p{N}", word)
        }
        makers: dict[str, Callable[[], Callable[[str], str | None]]] = {
            "accents": lambda: self._folding(without_accents, 2),
            "spelling": lambda: self._folding(spanish_sound, self.lengths[0]),
            "doubled": lambda: self._folding(without_doubles, self.lengths[0]),
            "joined": lambda: self._joined,
            "near": self._near,
        }
        if settings.language is None:
            del makers["spelling"]
        made = {name: make() for name, make in makers.items() if name not in settings.without}
        self.rules = tuple(made)
        self.found: dict[str, tuple[str, str]] = {}
        """Unknown word -> (what stands in its place, rule)."""
        for word in sorted(self.unknown):
            for name, rule in made.items():
                if (better := rule(word)) is not None:
                    self.found[word] = better, name
                    break

    def _folding(self, fold: Callable[[str], str], shortest: int) -> Callable[[str], str | None]:
        """The rule that takes the first word of the vocabulary with the same folding."""
        wanted = {fold(word) for word in self.unknown if len(word) >= shortest}
        first: dict[str, str] = {}
        for word in sorted(self.vocabulary, key=self.vocabulary.__getitem__):
            if len(word) >= shortest and (folded := fold(word)) in wanted:
                first.setdefault(folded, word)
        return lambda word: first.get(fold(word)) if len(word) >= shortest else None

    def _joined(self, word: str) -> str | None:
        """Parts with a vector. If no mark separates them, the two that are most often neighbours."""
        parts = _MARKS.split(word)
        if len(parts) > 1:
            if "".join(parts) in self.vocabulary:
                return "".join(parts)
            return " ".join(parts) if all(part in self.vocabulary for part in parts) else None
        witnesses = [
            (-count, halves)
            for place in range(1, len(word))
            if (count := self.neighbours[halves := (word[:place], word[place:])]) >= self.times * self.counts[word]
            and all(half in self.vocabulary for half in halves)
        ]
        return " ".join(min(witnesses)[1]) if witnesses else None

    def _near(self) -> Callable[[str], str | None]:
        """The rule that takes the nearest word of the texts with the same first letter, and the most frequent of
        several.

        Accents do not count. Each letter that is added, left out, changed, or exchanged with the next counts as one.
        """
        from rapidfuzz.distance import OSA

        known: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for word in self.counts.keys() & self.vocabulary.keys():
            plain = without_accents(word)
            known[plain[:1]].append((word, plain))

        def nearest(word: str) -> str | None:
            plain = without_accents(word)
            most = sum(len(word) >= length for length in self.lengths[1:])
            best: tuple[int, int, int, str] | None = None
            for other, letters in known[plain[:1]] if most else ():
                count = self.counts[other]
                if count < self.times * self.counts[word] or abs(len(letters) - len(plain)) > most:
                    continue
                distance = OSA.distance(plain, letters, score_cutoff=most)
                if distance <= most:
                    found = (distance, -count, self.vocabulary[other], other)
                    best = found if best is None else min(best, found)
            return None if best is None else best[3]

        return nearest
