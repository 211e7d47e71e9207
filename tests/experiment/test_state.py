"""The file that says what has become of each cell: damaged, absent, and whole after a failed write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fairseq_xl.experiment.state import DONE, PENDING, State
from fairseq_xl.io.errors import InputError


def test_what_was_saved_is_read_and_other_cells_are_pending(tmp_path: Path) -> None:
    state = State(tmp_path / "experiment.json")
    state.systems = {"vmf.seed1": ("vmf", 1)}
    state["vmf.seed1"].status = DONE
    state.save()
    again = State.of(tmp_path)
    assert again.systems == state.systems
    assert again["vmf.seed1"] == state["vmf.seed1"]
    assert again["cosine.seed1"].status == PENDING


def test_a_folder_without_an_experiment(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no .*experiment\.json"):
        State.of(tmp_path)


def test_damaged_state(tmp_path: Path) -> None:
    (tmp_path / "experiment.json").write_text("{}")
    with pytest.raises(InputError, match="is no state of an experiment"):
        State.of(tmp_path)


GOOD = {
    "title": "t",
    "labels": {"vmf": "vMF"},
    "baselines": ["vmf"],
    "systems": {"vmf.seed1": ["vmf", 1]},
    "cells": {"vmf.seed1": {"status": DONE, "command": ["bash"], "seconds": 1.5, "peak_MiB": None}},
}


@pytest.mark.parametrize(
    "change",
    [
        *({"title": 1}, {"labels": []}, {"labels": {"vmf": None}}, {"baselines": "vmf"}, {"baselines": [1]}),
        *({"systems": {"vmf.seed1": [1, 1]}}, {"systems": {"vmf.seed1": ["vmf", "1"]}}),
        *({"cells": {"a": {"status": None}}}, {"cells": {"a": {"command": "bash"}}}),
        *({"cells": {"a": {"seconds": "1"}}}, {"cells": {"a": {"error": 1}}}, {"cells": {"a": {"peak_MiB": []}}}),
    ],
)
def test_values_of_other_types(change: dict, tmp_path: Path) -> None:
    path = tmp_path / "experiment.json"
    path.write_text(json.dumps(GOOD))
    assert State(path).systems == {"vmf.seed1": ("vmf", 1)}
    path.write_text(json.dumps({**GOOD, **change}))
    with pytest.raises(InputError, match="is no state of an experiment"):
        State(path)


def test_the_state_is_never_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "experiment.json"
    State(path).save()
    whole = path.read_text()
    broken = State(path)
    monkeypatch.setattr(json, "dump", lambda *_, **__: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        broken.save()
    assert path.read_text() == whole
