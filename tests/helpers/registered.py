"""What the plugin has registered, so that no test forgets one."""

from __future__ import annotations

from fairseq.models import MODEL_DATACLASS_REGISTRY, MODEL_REGISTRY


def models(room: str, presets: bool = True) -> list[str]:
    """The names of all models of ``fairseq_xl.ROOM``; presets are another one with other sizes.

    A classifier that a test of this process registers is made there, too, but its options are the test's.
    """
    found = {
        name: kind
        for name, kind in MODEL_REGISTRY.items()
        if kind.__module__.startswith(f"fairseq_xl.{room}.")
        and MODEL_DATACLASS_REGISTRY[name].__module__.startswith("fairseq_xl.")
    }
    assert found, f"fairseq_xl.{room} has registered no model"
    return sorted(name for name, kind in found.items() if presets or kind.__base__ not in found.values())
