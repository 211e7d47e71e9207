"""Names of encodings, as files, users and web pages give them."""

from __future__ import annotations

import codecs

_CODES = {"charmap", "idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"}
"""Python's codecs from bytes to text in which no text is written: for names of hosts, source code and machinery."""


def text_encoding(name: str) -> str | None:
    """Python's name of an encoding of texts; None for any other name.

    Python also knows codecs that are none, such as ``hex`` and ``zlib``; ``bytes.decode`` raises LookupError for some
    of them, and for others whatever they come upon.
    """
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError):  # ValueError: a character that no name has
        return None
    if not found._is_text_encoding or found.name.replace("_", "-") in _CODES:
        return None
    return found.name
