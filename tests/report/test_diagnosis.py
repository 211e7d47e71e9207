"""The paper's Table 2 and what goes with it, from made-up measurements."""

import json

import pytest

from fairseq_xl.report import diagnosis
from fairseq_xl.report.runs import load_runs, translations


def distribution(mean, std=0.1):
    spots = {str(q): mean + (q - 0.5) * std for q in (0.05, 0.25, 0.5, 0.75, 0.95)}
    histogram = {"low": -1, "high": 1, "scale": "linear", "counts": [0, 3, 7, 0]}
    return {"count": 10, "mean": mean, "std": std, "quantiles": spots, "histogram": histogram}


def measured(cosine, updates=10):
    similar = {
        "positions": 1234,
        "nearest_when_correct": cosine + 0.1,
        "nearest_when_wrong": cosine,
        "target_when_wrong": 0.4,
        "target": None,
        "accuracy": {"1": 60.0, "10": 80.25},
    }
    stability = {
        source: {"lambda3": distribution(-0.0001), "lambda4": distribution(1.0), "hinge_active": active}
        for source, active in zip(diagnosis.SOURCES, (0.25, 0.5, None, 0.75), strict=True)
    }
    kappa = distribution(3)
    kappa["histogram"] = {"low": 0.01, "high": 100, "scale": "log", "counts": [1, 2, 3]}
    occurrences = {"skewness": 2.5, "never": 0.5, "hubs": [["the", 9], ["a", 8]]}
    word = {
        "word": "dog",
        "positions": 4,
        "wrong": 1,
        "mean": None,
        "mean_when_wrong": {name: [["cat", 0.5]] for name in ("prediction", "projection", "difference")},
    }
    return {
        "updates": updates,
        "teacher_forcing": similar,
        "own_decoding": similar,
        "stability": stability,
        "geometry": {"cosine": distribution(0.5), "kappa": kappa},
        "hubness": {of: occurrences for of in ("predictions", "targets", "table")},
        "words": [word],
    }


@pytest.fixture
def runs(make_run):
    for seed in (1, 2):
        found = [measured(0.5, updates) for updates in (5, 8)] + [measured(0.5 + seed / 10)]
        run = make_run(f"vmf.{seed}", seed=seed)
        (run / "diagnostics.json").write_text(json.dumps({"split": "valid", "checkpoints": found}))
    make_run("softmax.1")
    systems = {"vmf.1": ("vmf", 1), "softmax.1": ("softmax", 1), "vmf.2": ("vmf", 2)}
    return translations(load_runs(make_run.out, systems, {}))


def test_sections(runs, tmp_path):
    predictions, negatives, geometry = diagnosis.sections(runs, {"vmf": "vMF"}, tmp_path)
    forced, own, words = predictions.tables
    assert forced.title == "Predictions under teacher forcing"
    assert own.title == "Predictions under own greedy decoding"
    assert forced.headings[-3:] == ["accuracy@1", "accuracy@10", "positions"]
    assert forced.rows == [
        ["vMF", "0.750 ± 0.071", "0.650 ± 0.071", "0.400 ± 0.000", "", "60.0 ± 0.0", "80.2 ± 0.0", "1,234"]
    ]
    assert words.rows == [["dog", "vMF", "1 of 4", "cat 0.50", "cat 0.50", "cat 0.50"]]
    (components,) = negatives.tables
    assert components.rows[0] == ["vMF", "projection", "0.000 ± 0.100", "1.000 ± 0.100", "25.0 %"]
    assert components.rows[2][-1] == ""
    (hubs,) = geometry.tables
    assert hubs.rows == [["vMF", *["2.5 ± 0.0"] * 3, "50.0 ± 0.0 %", "the, a"]]
    assert [picture.name for picture in negatives.pictures] == ["negatives", "negatives-over-training-1"]
    assert [picture.name for picture in geometry.pictures] == ["geometry", "geometry-over-training-1"]
    assert {path.suffix for path in (tmp_path / "figures").iterdir()} == {".png", ".pdf"}


def test_what_is_drawn(runs):
    from matplotlib.colors import to_rgba
    from matplotlib.figure import Figure

    groups = {"vMF": [run.diagnostics["checkpoints"][-1] for run in runs if run.diagnostics]}
    figure = Figure()
    diagnosis.draw_geometry(figure, groups, {"vMF": "C3"})
    cosine, kappa = figure.axes
    (steps,) = cosine.patches
    assert steps.get_data().values.tolist() == [0.3, 0.7], "empty bins at the ends are cut"
    assert steps.get_data().edges.tolist() == [-0.5, 0, 0.5]
    assert kappa.get_xscale() == "log"
    assert kappa.patches[0].get_data().edges[0] == pytest.approx(0.01)
    assert steps.get_edgecolor() == to_rgba("C3")
    figure = Figure(layout="constrained")
    diagnosis.draw_over_training(figure, runs[0].diagnostics["checkpoints"])
    assert figure.axes[0].lines[0].get_xdata().tolist() == [5, 8, 10]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == list(diagnosis.SOURCES.values())
    figure.draw_without_rendering()
    assert not any(legend.get_window_extent().overlaps(axes.get_tightbbox()) for axes in figure.axes)
    figure = Figure()
    diagnosis.draw_geometry_over_training(figure, runs[0].diagnostics["checkpoints"])
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
    diagnosis.draw_geometry_over_training(figure, checkpoints)
    assert len(figure.axes) == 2, "a loss without a margin has no hinges to show"
    figure = Figure()
    diagnosis.draw_components(figure, groups)
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [
        f"vMF: {name}" for name in diagnosis.SOURCES.values()
    ]


def test_nothing_was_diagnosed(make_run, tmp_path):
    make_run("softmax.1")
    assert (
        diagnosis.sections(translations(load_runs(make_run.out, {"softmax.1": ("softmax", 1)}, {})), {}, tmp_path) == []
    )
