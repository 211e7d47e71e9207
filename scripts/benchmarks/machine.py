"""Which machine a figure was measured on."""

from __future__ import annotations

import platform
from pathlib import Path


def processor() -> str:
    """The CPU's name as the system gives it."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
