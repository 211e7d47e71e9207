"""Training curves of made-up logs."""

import struct
import sys
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from fairseq_xl.io.errors import InputError
from fairseq_xl.report.curves import write_curves
from fairseq_xl.report.training_log import Record, TrainingLog


def training_log(criterion: str, epochs: int, **measured: float) -> TrainingLog:
    """Ten updates an epoch; accuracy and what is measured grow from epoch to epoch, losses fall."""
    records = []
    for e in range(1, epochs + 1):
        values = {"loss": 3 / e, "accuracy": 12.0 * e, **{name: float(value * e) for name, value in measured.items()}}
        records += [Record("train", e, e, 10 * e, {"loss": 4 / e}), Record("valid", e, e, 10 * e, values)]
    return TrainingLog(Path("train.log"), records, criterion)


def test_the_figure_has_a_panel_for_each_criterion_and_measure(tmp_path, monkeypatch):
    drawn = {}

    def spy(figure, *args, **kwargs):
        for axes in figure.axes:
            if axes.get_visible():
                drawn[axes.get_ylabel()] = {line.get_label(): line.get_xydata().tolist() for line in axes.get_lines()}
                assert axes.get_xlabel() == "updates"
                assert axes.get_legend() is not None
        save(figure, *args, **kwargs)

    save = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", spy)
    output = tmp_path / "pictures" / "curves.png"
    logs = [("margin", training_log("syn_margin_proj", 5, bleu=10)), ("von Mises", training_log("vmf", 4))]
    write_curves(logs, output, "updates")
    assert list(drawn) == ["loss (syn_margin_proj)", "loss (vmf)", "validation accuracy@1 (%)", "validation BLEU"]
    assert drawn["loss (vmf)"] == {
        "von Mises, training": [[10.0 * e, 4 / e] for e in range(1, 5)],
        "von Mises, validation": [[10.0 * e, 3 / e] for e in range(1, 5)],
    }
    assert set(drawn["validation accuracy@1 (%)"]) == {"margin", "von Mises"}
    assert drawn["validation BLEU"] == {"margin": [[10.0 * e, 10.0 * e] for e in range(1, 6)]}
    png = output.read_bytes()
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", png[16:24])
    assert width > 800
    assert height > 600
    assert [path.name for path in output.parent.iterdir()] == ["curves.png"]


def test_without_matplotlib_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"bash scripts/setup.sh --extras report"):
        write_curves([("a", training_log("vmf", 2))], tmp_path / "curves.png")
