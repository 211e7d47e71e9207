"""A small parallel corpus with a real grammar: an invented language, Qelmi, and its English.

The corpus stands in for real parallel text where none can be downloaded. A model learns it in minutes, yet its
translation is more than word substitution. All of it follows from a seed. Qelmi's language code is ``qel``, which ISO
639 leaves to private use. The words are in :mod:`fairseq_xl.text.synthetic.lexicon`.

A grammar of Qelmi
==================

**Sounds.** The vowels are back (*a o u*) or front (*e i ö*). A stem has vowels of one kind and its
suffixes follow it (vowel harmony): A stands for *a* or *e*, U for *u* or *i*. Where a suffix
brings two vowels together, *j* parts them.

**Nouns** belong to gender 1 or 2. They take ``-mA`` in the plural, then case: nominative (no
suffix; subjects, and before postpositions), accusative ``-Un`` (objects), dative ``-kA``
(recipients and goals: English *to*). Beside a numeral or *many* the noun stays singular, and so
does everything that agrees with it.

**Agreement.** Adjectives, the article, demonstratives and verbs agree in gender and number by one
set of endings:

    ==========  ========  ======
    ..          singular  plural
    gender 1    -tA       -tAm
    gender 2    -sU       -sUm
    ==========  ========  ======

Personal pronouns have a gender too: *he*, *i*, *they* are of gender 1, *she*, *you*, *we* of
gender 2.

**Noun phrase**: relative clause, noun, adjective, determiner, postposition. Only the noun bears
case. There is a definite article (DEF) and no indefinite one. Possessives and numerals have one
form. A relative clause ends in the particle REL; its noun is its subject.

**Verbs** come last: stem, tense (present ``-Ar``, past ``-Ud``), agreement with the subject. The
future is the present with the particle FUT after it. A negation has the particle NEG after that. A
question ends in the particle Q.

**Sentence**: time, subject, place or goal, recipient, object, manner, verb. A subordinate clause
comes first and closes with its conjunction.

Examples (form, gloss, English)::

    a counted noun is singular
    öredme     pezejin    salugta   supo  dötijersim      .
    woman.2-PL dog.1-ACC  big-1.SG  two   follow-PRS-2.PL .
    women follow two big dogs .

    a relative clause before its noun, harmony in every suffix
    sarujun    pusokudsu    vögöp  rub      pebösi      dugurun      pusokudsu     .
    cake.2-ACC eat-PST-2.SG REL    child.2  tired-2.SG  apple.2-ACC  eat-PST-2.SG  .
    a tired child who ate a cake ate an apple .

    a subordinate clause before the main one, a negation
    ripö  tözin        sosajudsu       tiv  seni     ovar       kökitidsi      .
    she   dress.2-ACC  carry-PST-2.SG  NEG  because  teacher.2  walk-PST-2.SG  .
    a teacher walked because she did not carry a dress .

    a question with a goal
    ozoh   vimevsi   nögöke       vimevte   kökitersi      iteg  ?
    cat.2  DEF-2.SG  river.1-DAT  DEF-1.SG  walk-PRS-2.SG  Q     ?
    does the cat walk to the river ?

English is lower-cased and tokenised. It has difficulties of its own. They are *a* or *an*, number and third-person
agreement, irregular pasts and plurals, and another word order. Questions and negation have *do*-support, and mass nouns
have no article.

**Meaning**: verbs select their subjects and objects, and adjectives and prepositions select their
nouns: one eats food and wears clothing. Words are drawn from Zipf-like distributions. Word vectors
trained on the English side therefore mean something.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.folders import own_files
from fairseq_xl.text.synthetic.grammar import Grammar, Pair
from fairseq_xl.text.synthetic.tags import universal_tags

SOURCE_LANGUAGE = "qel"
TARGET_LANGUAGE = "en"


@dataclass(frozen=True)
class Corpus:
    """Three disjoint splits, and English sentences of which none is in ``valid`` or ``test``."""

    train: list[Pair]
    valid: list[Pair]
    test: list[Pair]
    monolingual: list[tuple[str, ...]]


def generate(seed: int = 1, train: int = 4000, valid: int = 200, test: int = 200, monolingual: int = 0) -> Corpus:
    """The corpus of ``seed``: no sentence of either language occurs twice among the three splits.

    The test set is drawn first, then the validation set: they stay the same when ``train`` or
    ``monolingual`` changes. ``monolingual`` counts further English sentences, distinct from each
    other and from the held-out ones.
    """
    grammar = Grammar(seed)
    sources: set[tuple[str, ...]] = set()
    targets: set[tuple[str, ...]] = set()
    fresh = _distinct(grammar, sources, targets)
    splits = [[next(fresh) for _ in range(size)] for size in (test, valid, train)]
    extra = _distinct(grammar, set(), {pair.target for pair in splits[0] + splits[1]})
    return Corpus(
        test=splits[0], valid=splits[1], train=splits[2], monolingual=[next(extra).target for _ in range(monolingual)]
    )


def _distinct(grammar: Grammar, sources: set[tuple[str, ...]], targets: set[tuple[str, ...]]) -> Iterator[Pair]:
    while True:
        pair = grammar.sentence()
        if pair.source not in sources and pair.target not in targets:
            sources.add(pair.source)
            targets.add(pair.target)
            yield pair


def write(corpus: Corpus, folder: Path, gloss: bool = False, tags: bool = False) -> list[Path]:
    """Write ``{train,valid,test}.{qel,en}`` and, if there is any, ``mono.en``.

    ``gloss`` adds ``*.gloss``, one entry for each source word. ``tags`` adds ``en.conllu``, a treebank of the English
    sentences of the splits with universal parts of speech. Each file appears complete or not at all. Returns their
    paths. Raises :class:`InputError` where ``folder`` cannot be a folder or has files of others by these names.
    """
    sides = {SOURCE_LANGUAGE: "source", TARGET_LANGUAGE: "target"}
    if gloss:
        sides["gloss"] = "gloss"
    texts: dict[str, Iterable[tuple[str, ...]]] = {
        f"{split}.{suffix}": [getattr(pair, side) for pair in getattr(corpus, split)]
        for split in ("train", "valid", "test")
        for suffix, side in sides.items()
    }
    if corpus.monolingual:
        texts[f"mono.{TARGET_LANGUAGE}"] = corpus.monolingual
    treebank = f"{TARGET_LANGUAGE}.conllu"
    with own_files(folder, "data synthetic") as new:
        for name, sentences in texts.items():
            with atomic_text(new / name) as stream:
                stream.writelines(" ".join(words) + "\n" for words in sentences)
        if tags:
            with atomic_text(new / treebank) as stream:
                stream.writelines(_tagged(pair.target) for pair in (*corpus.train, *corpus.valid, *corpus.test))
    return [folder / name for name in (*texts, *([treebank] if tags else []))]


def _tagged(words: Sequence[str]) -> str:
    """A sentence of a CoNLL-U file."""
    lines = [f"# text = {' '.join(words)}"]
    for number, (word, tag) in enumerate(zip(words, universal_tags(words), strict=True), start=1):
        lines.append("\t".join([str(number), word, word, tag, *"______"]))
    return "\n".join(lines) + "\n\n"
