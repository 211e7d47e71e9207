"""E-mail addresses and telephone numbers masked in a line."""

from __future__ import annotations

import re

EMAIL, PHONE = "<email>", "<phone>"

_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
# No point among the separators: 192.168.100.200 and 2.4.10.2016 are other things.
_PHONE = re.compile(r"(?<![\w.,@/-])(?:\+|\(|\b)\d(?:[ ()/-]{0,3}\d){7,14}(?![\w@/-]|\.\d)")
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d\d?[-/]\d\d?[-/]\d{4}")
_DIVIDED = re.compile(r"\d[ ()/-]+\d")


def masked(text: str) -> tuple[str, int]:
    """The text with ``<email>`` and ``<phone>`` in place of what looks like one, and how many there were.

    A telephone number is a guess: 8 to 15 digits that begin with + or 00, or are divided by blanks, hyphens or
    brackets, and are no date. Names and postal addresses are not found.
    """
    text, emails = _EMAIL.subn(EMAIL, text)
    phones = 0

    def replacement(match: re.Match[str]) -> str:
        nonlocal phones
        number = match[0]
        if _DATE.fullmatch(number) or not (number.startswith(("+", "00")) or _DIVIDED.search(number)):
            return number
        phones += 1
        return PHONE

    return _PHONE.sub(replacement, text), emails + phones
