"""What can be seen of a pair of sentences by someone who knows neither language."""

from __future__ import annotations

from fairseq_xl.text.words import cosine, punctuation, words


def features(left: str, right: str) -> list[float]:
    """A pair's lengths and their ratios, shared words, numbers, punctuation and capitals. No word is known."""
    tokens = [words(text) for text in (left, right)]
    found: list[float] = []
    for sizes in ((len(left), len(right)), tuple(map(len, tokens))):
        a, b = sizes
        found += [a, b, abs(a - b), min(a, b) / max(a, b, 1), (a - b) / max(a, b, 1)]
    numbers = [{word for word in side if any(c.isdigit() for c in word)} for side in tokens]
    for one, other in ([set(side) for side in tokens], numbers):
        shared, either = len(one & other), len(one | other)
        found += [shared, len(one ^ other), shared / either if either else 1.0]
    marks = [punctuation(text) for text in (left, right)]
    found.append(cosine(*marks) if all(marks) else float(not any(marks)))
    found += [abs(marks[0].total() - marks[1].total()), float(left[-1:] == right[-1:])]
    capitals = [sum(c.isupper() for c in text) for text in (left, right)]
    found += [abs(capitals[0] - capitals[1]), float(left[:1].isupper() == right[:1].isupper())]
    return found
