"""What was decoded before, kept in a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.json_files import loads
from fairseq_xl.io.lines import refuse_pipe
from fairseq_xl.translation.tuning.outcomes import Outcome
from fairseq_xl.translation.tuning.points import Point


class Results:
    """What was decoded before, by :attr:`Point.key`, in a file that grows a line with each decoding.

    Args:
        path: the file; made if there is none.
        about: what the results depend on beside the point; must be what the file says.

    Raises:
        InputError: a file of something else, or with other dependencies.
    """

    def __init__(self, path: Path, about: dict[str, Any]) -> None:
        self.path = path
        self.found: dict[str, dict[str, Outcome]] = {}
        refuse_pipe(path)
        if not path.exists():
            self._append(about)
            return
        try:
            written = path.read_text(encoding="utf-8")
            # A run that was killed may have left half a line, be it the first, or none.
            text = written[: written.rfind("\n") + 1]
            if not text and json.dumps(about).startswith(written):
                path.write_text("", encoding="utf-8")
                self._append(about)
                return
            first, *lines = [loads(line) for line in text.splitlines()]
            for line in lines:
                self.found[line["point"]] = {
                    penalty: Outcome(**outcome) for penalty, outcome in line["outcomes"].items()
                }
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{path} holds no results of translate tune ({error}): give another --results") from None
        if first != about:
            names = about if isinstance(first, dict) else ()
            other = [name for name in names if first.get(name) != about[name]]
            raise InputError(f"{path} holds results of another {', '.join(other) or 'search'}: give another --results")
        with atomic_text(path) as stream:
            stream.write(text)

    def _append(self, line: dict[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")

    def get(self, point: Point, decode: Callable[[Point], dict[str, Outcome]]) -> dict[str, Outcome]:
        """The outcomes of a point, decoded unless they are known."""
        if point.key not in self.found:
            found = decode(point)
            named = {penalty: asdict(outcome) for penalty, outcome in found.items()}
            self._append({"point": point.key, "outcomes": named})
            self.found[point.key] = found
        return self.found[point.key]
