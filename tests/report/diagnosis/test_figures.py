"""What negatives are made of, angles and norms, as they are drawn from made-up measurements."""

import pytest

from fairseq_xl.report.diagnosis.figures import (
    draw_components,
    draw_geometry,
    draw_geometry_over_training,
    draw_over_training,
)
from fairseq_xl.report.diagnosis.measurements import SOURCES


def test_what_is_drawn(runs):
    from matplotlib.colors import to_rgba
    from matplotlib.figure import Figure

    groups = {"vMF": [run.diagnostics["checkpoints"][-1] for run in runs if run.diagnostics]}
    figure = Figure()
    draw_geometry(figure, groups, {"vMF": "C3"})
    cosine, kappa = figure.axes
    (steps,) = cosine.patches
    assert steps.get_data().values.tolist() == [0.3, 0.7], "empty bins at the ends are cut"
    assert steps.get_data().edges.tolist() == [-0.5, 0, 0.5]
    assert kappa.get_xscale() == "log"
    assert kappa.patches[0].get_data().edges[0] == pytest.approx(0.01)
    assert steps.get_edgecolor() == to_rgba("C3")
    figure = Figure(layout="constrained")
    draw_over_training(figure, runs[0].diagnostics["checkpoints"])
    assert figure.axes[0].lines[0].get_xdata().tolist() == [5, 8, 10]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == list(SOURCES.values())
    figure.draw_without_rendering()
    assert not any(legend.get_window_extent().overlaps(axes.get_tightbbox()) for axes in figure.axes)
    figure = Figure()
    draw_geometry_over_training(figure, runs[0].diagnostics["checkpoints"])
    cosines, norms, hinges = figure.axes
    (mesh,) = cosines.collections
    assert mesh.get_array().tolist() == [[0.3] * 3, [0.7] * 3], "a column for each checkpoint"
    assert mesh.get_coordinates()[0, :, 0].tolist() == [3.5, 6.5, 9, 11]
    assert norms.get_yscale() == "log"
    figure.draw_without_rendering()
    assert not any("$" in label.get_text() for label in norms.get_yticklabels())
    assert [line.get_ydata().tolist() for line in hinges.lines] == [[active] * 3 for active in (0.25, 0.5, 0.75)]
    checkpoints = runs[0].diagnostics["checkpoints"]
    for checkpoint in checkpoints:
        for negative in checkpoint["stability"].values():
            negative["hinge_active"] = None
    figure = Figure()
    draw_geometry_over_training(figure, checkpoints)
    assert len(figure.axes) == 2, "a loss without a margin has no hinges to show"
    figure = Figure()
    draw_components(figure, groups)
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [
        f"vMF: {name}" for name in SOURCES.values()
    ]
