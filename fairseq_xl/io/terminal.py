"""Text that comes from data, shown at a terminal: letters only, no commands to the terminal."""

from __future__ import annotations

import re
from typing import Any, TextIO

# C0 and C1 control characters but tab, newline and carriage return, and what turns the direction of writing around.
_COMMANDS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def escape_controls(text: str) -> str:
    r"""The same text with control characters spelled out, ESC as ``\x1b``: nothing moves, hides or renames.

    >>> print(escape_controls("a\x1b[2Jb"))
    a\x1b[2Jb
    """
    return _COMMANDS.sub(lambda found: ascii(found[0])[1:-1], text)


class EscapingTerminal:
    """A stream to a terminal that writes :func:`escape_controls` text and is otherwise as it was.

    What goes to a file or a pipe is data and must stay what it is: wrap terminals alone.
    """

    def __init__(self, stream: TextIO):
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(escape_controls(text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
