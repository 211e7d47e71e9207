"""What the plugin has registered, so that no test forgets one."""

from __future__ import annotations

from fairseq.models import MODEL_REGISTRY


def models(room: str) -> list[str]:
    """The names of all models of ``fairseq_xl.ROOM``."""
    return sorted(name for name, kind in MODEL_REGISTRY.items() if kind.__module__.startswith(f"fairseq_xl.{room}."))
