"""A parallel corpus of one's own, or a list as Tatoeba's are published, cut into training, development and test text.

One sentence has many translations, and those have others. A test sentence whose like is in the training text would
measure memory. So pairs that share a sentence on either side are joined into clusters, and a cluster goes into one
split as a whole. One pair of a held-out cluster is kept.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.tables import stream_rows
from fairseq_xl.text.languages import check_sides
from fairseq_xl.text.parallel import read_parallel
from fairseq_xl.text.splits.linked import groups

Pair = tuple[str, str]

_LARGEST = 100, 0.01
"""A cluster of more pairs and of a larger share of all is never held out: training would lack too much."""


@dataclass(frozen=True)
class Splits:
    """Pairs of each split, in the order of the file; ``dropped`` training pairs repeat what is held out."""

    train: list[Pair]
    valid: list[Pair]
    test: list[Pair]
    dropped: int

    def __str__(self) -> str:
        return (
            f"{len(self.train)} training pairs, {len(self.valid)} development, {len(self.test)} test; {self.dropped} "
            "left out, which repeat held-out sentences"
        )


@dataclass(frozen=True)
class Corpus:
    """Where pairs are: one tab-separated file, or two files PREFIX.SRC and PREFIX.TGT; any may end in .gz.

    Attributes:
        path: the file or the prefix.
        languages: the codes of source and target.
        columns: of source and target in the one file, from 1.
    """

    path: Path
    languages: tuple[str, str]
    columns: tuple[int, int] = (1, 2)

    def sides(self) -> tuple[Path, Path] | None:
        """The two files; None where it is one.

        Raises:
            InputError: neither is there.
        """
        if self.path.is_file():
            return None
        found = []
        for language in self.languages:
            plain = Path(f"{self.path}.{language}")
            packed = Path(f"{plain}.gz")
            if not plain.is_file() and not packed.is_file():
                raise InputError(
                    f"there is no {plain} (or .gz), and {self.path} is no file of pairs: check the name and the "
                    "language codes"
                )
            found.append(plain if plain.is_file() else packed)
        return found[0], found[1]

    def read(self) -> list[Pair]:
        """All pairs in their order, blanks evened, those with an empty side, too.

        Raises:
            InputError: files that are missing, empty, of unequal length or torn; a line with fewer columns.
        """
        sides = self.sides()
        if sides is None:
            rows = stream_rows(self.path, list(map(str, self.columns)), even=False)
            raw = [(row.chosen[0], row.chosen[1]) for row in rows if any(cell.strip() for cell in row.cells)]
        else:
            raw = list(read_parallel(*sides))
        pairs = [(" ".join(source.split()), " ".join(target.split())) for source, target in raw]
        if not any(source and target for source, target in pairs):
            raise InputError(f"{self.path} is empty: give sentence pairs")
        return pairs


def unique(pairs: Sequence[Pair], left_out: frozenset[Pair] | set[Pair] = frozenset()) -> list[Pair]:
    """Each pair once, in the order of its first place; none with an empty side and none of ``left_out``."""
    return [pair for pair in dict.fromkeys(pairs) if pair[0] and pair[1] and pair not in left_out]


def split(pairs: Sequence[Pair], valid: int, test: int, seed: int) -> Splits:
    """Cut into splits; the same pairs, numbers and seed give the same ones.

    Raises:
        InputError: fewer clusters than held-out pairs are wanted, or none left to train on.
    """
    if not valid + test:
        return Splits(list(pairs), [], [], 0)
    cluster = groups(((0, left), (1, right)) for left, right in pairs)
    members: dict[int, list[int]] = {}
    for place, name in enumerate(cluster):
        members.setdefault(name, []).append(place)
    if len(members) <= valid + test:
        raise InputError(
            f"{len(pairs)} pairs make {len(members)} clusters without a sentence in common, too few to hold out "
            f"{valid} + {test}: lower --valid and --test, or a recipe's --held-out"
        )
    draw = random.Random(seed)
    chosen = draw.sample(sorted(members), valid + test)
    largest = max(_LARGEST[0], _LARGEST[1] * len(pairs))
    if any(len(members[name]) > largest for name in chosen):
        fit = [name for name in sorted(members) if len(members[name]) <= largest]
        if len(fit) < valid + test:
            raise InputError(
                f"{len(pairs)} pairs make {len(members)} clusters without a sentence in common. {len(fit)} are small, "
                f"too few to hold out {valid} + {test}: lower --valid and --test, or a recipe's --held-out"
            )
        chosen = draw.sample(fit, valid + test)
    held_out = [[draw.choice(members[name]) for name in names] for names in (chosen[:valid], chosen[valid:])]
    names = set(chosen)
    train = [pair for pair, name in zip(pairs, cluster, strict=True) if name not in names]
    dev_pairs, test_pairs = ([pairs[place] for place in sorted(places)] for places in held_out)
    return Splits(train, dev_pairs, test_pairs, len(pairs) - len(train) - len(dev_pairs) - len(test_pairs))


def cut(
    corpora: Mapping[str, Corpus], valid: int, test: int, seed: int, least: int = 1, trust_languages: bool = False
) -> Splits:
    """Training, development and test pairs of what is given: ``train``, and ``valid`` and ``test`` where there are any.

    A given set stays as it is. Its pairs are left out of the others, which may share one side with it. So many pairs of
    the training text are held out for one that is not given.

    Raises:
        InputError: what :meth:`Corpus.read` and :func:`split` raise; sides that are the wrong way round; fewer than
            ``least`` training pairs.
    """
    read = {name: corpus.read() for name, corpus in corpora.items()}
    if not trust_languages:
        for name, corpus in corpora.items():
            check_sides(str(corpus.path), read[name], corpus.languages)
    pairs = unique(read["train"])
    if len(pairs) < least:
        raise InputError(
            f"{corpora['train'].path} has {len(pairs)} different pairs, too few to learn from: give {least} or more"
        )
    given = {pair for name in ("valid", "test") for pair in read.get(name, ())}
    fresh = unique(pairs, given)
    found = split(fresh, 0 if "valid" in read else valid, 0 if "test" in read else test, seed)
    if len(found.train) < least:
        raise InputError(
            f"{corpora['train'].path} leaves {len(found.train)} training pairs when other sets are taken out, too few "
            f"to learn from: give {least} or more, or hold out fewer"
        )
    return Splits(
        found.train,
        read.get("valid", found.valid),
        read.get("test", found.test),
        found.dropped + len(pairs) - len(fresh),
    )
