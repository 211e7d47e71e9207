"""What importing the package does to the program that imports it."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import logging
kept = logging.NullHandler()
logging.getLogger().addHandler(kept)
logging.getLogger().setLevel(logging.ERROR)
import fairseq_xl
assert "fairseq.tasks" in __import__("sys").modules
print(logging.getLogger().level, logging.getLogger().handlers == [kept])
"""


def test_logging_stays_as_it_was():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, timeout=900)
    assert done.stdout.split() == ["40", "True"]
