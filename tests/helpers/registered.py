"""What the plugin has registered, so that no test forgets one."""

from __future__ import annotations

from fairseq.models import MODEL_REGISTRY


def models(room: str, presets: bool = True) -> list[str]:
    """The names of all models of ``fairseq_xl.ROOM``; presets are another one with other sizes."""
    found = {name: kind for name, kind in MODEL_REGISTRY.items() if kind.__module__.startswith(f"fairseq_xl.{room}.")}
    assert found, f"fairseq_xl.{room} has registered no model"
    return sorted(name for name, kind in found.items() if presets or kind.__base__ not in found.values())
