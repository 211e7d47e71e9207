"""Ways to spoil a file: torn, flipped, retyped, with what breaks parsers put into it."""

from __future__ import annotations

import json
import random
from typing import Any

# What breaks parsers: ends of lines and of strings, numbers that are none, encodings, what a format is made of.
PIECES = [
    *(b"\x00", b"\n", b"\r\n", b"\r", b"\t", b" ", b'"', b"'", b"\\", b"\xff", b"\xef\xbb\xbf", b"\xc3"),
    *(b"\xe2\x80\xa8", b"\x85", b"-1", b"0", b"1e999", b"nan", b"9" * 30, b"9" * 5000, b"null", b"true", b"[]"),
    *(b"{}", b"{", b"}", b"[", b"]", b"<", b">", b"<!DOCTYPE x [<!ENTITY a 'b'>]>", b"&a;", b"&#0;", b"&#xD800;"),
    *(b"\\ud800", b"(", b")", b",", b":", b"=", b"|", b"#", b"%", b"${oc.env:HOME}", b"!!python/object:os.system"),
    *(b"- ", b"&a *a", b"1_000", b"\xd9\xa3", b"\xc2\xb2", b"\xe2\x85\xa7", b"[" * 3000, b"(" * 3000),
    *(b'{"a":' * 3000, b"x" * 200_000, b"Infinity", b"1.5"),
]


OTHERS = [None, True, -1, 0, 1.5, 10**30, "", "x", "1", [], ["x"], [[]], {}, {"x": []}, [None, 1], float("nan")]
"""Values of every type that JSON has."""


def retyped(good: bytes, draw: random.Random) -> bytes | None:
    """JSON, or one line of JSON lines, with a value of another type, one more or one less; None: it is no JSON."""
    lines = [good] if good.count(b"\n") < 2 else good.splitlines(keepends=True)
    place = draw.randrange(len(lines)) if lines else 0
    try:
        value = json.loads(lines[place])
    except (ValueError, IndexError):
        return None
    root: list[Any] = [value]
    holder: Any = root
    key: Any = 0
    while isinstance(holder[key], (list, dict)) and holder[key] and draw.random() < 0.8:
        holder = holder[key]
        key = draw.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    match draw.randrange(4):
        case 0 if holder is not root:
            del holder[key]
        case 1 if isinstance(holder, list) and holder is not root:
            holder.append(draw.choice(OTHERS))
        case _:
            holder[key] = draw.choice(OTHERS)
    (value,) = root
    lines[place] = json.dumps(value).encode() + b"\n"
    return b"".join(lines)


def spoil(good: bytes, draw: random.Random) -> bytes:
    """A file like this one, with up to four things wrong."""
    if draw.random() < 0.3 and (changed := retyped(good, draw)) is not None:
        return changed
    content = bytearray(good)
    for _ in range(draw.randint(1, 4)):
        at = draw.randint(0, len(content))
        until = min(len(content), at + draw.choice((0, 1, 1, 4, 30)))
        match draw.randrange(6):
            case 0:  # a flipped bit
                if at < len(content):
                    content[at] ^= 1 << draw.randrange(8)
            case 1:  # a torn end
                del content[at:]
            case 2 | 3:  # something put in, or in the place of something
                content[at:until] = draw.choice(PIECES)
            case 4:  # lost
                del content[at:until]
            case 5:  # twice
                other = draw.randint(0, len(content))
                content[other:other] = content[at : at + draw.choice((4, 40, 400))]
    return bytes(content)
