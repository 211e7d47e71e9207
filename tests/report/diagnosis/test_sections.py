"""The paper's Table 2 and what goes with it, from made-up measurements."""

from fairseq_xl.report.diagnosis.sections import sections
from fairseq_xl.report.runs import load_runs, translations


def test_sections(runs, tmp_path):
    predictions, negatives, geometry = sections(runs, {"vmf": "vMF"}, tmp_path)
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


def test_nothing_was_diagnosed(make_run, tmp_path):
    make_run("softmax.1")
    assert sections(translations(load_runs(make_run.out, {"softmax.1": ("softmax", 1)}, {})), {}, tmp_path) == []
