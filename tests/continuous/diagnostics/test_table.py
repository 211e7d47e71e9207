"""The report for reading: what was measured stands in it, and what was not is a dash."""

import copy

from fairseq_xl.continuous.diagnostics.measure import measure
from fairseq_xl.continuous.diagnostics.settings import Settings
from fairseq_xl.continuous.diagnostics.table import lines


def report(trained, **criterion):
    entry = {"checkpoint": "a.pt", "epoch": 3, "criterion": criterion}
    entry |= measure(*trained, Settings(words=["w1", "w2"]), criterion.get("margin"))
    return {"split": "valid", "top": Settings().top, "checkpoints": [entry]}


def test_figures_of_a_report(trained):
    made = report(trained, _name="syn_margin_proj", margin=0.5)
    (entry,) = made["checkpoints"]
    text = list(lines(made))
    assert text[0] == "a.pt: syn_margin_proj, margin 0.5, epoch 3"
    assert text[1].startswith(f"valid, 17 sentences (1 too long), {entry['reference_words']} words; ")
    forced, own = entry["teacher_forcing"], entry["own_decoding"]
    rows = {line[2:46].strip(): line[46:].split() for line in text}
    assert rows["positions"] == [str(forced["positions"]), str(own["positions"])]
    assert rows["all predictions: cosine to target"] == [f"{x['target']:.3f}" for x in (forced, own)]
    assert rows["accuracy@5 (%)"] == [f"{x['accuracy']['5']:.2f}" for x in (forced, own)]
    hinge = entry["stability"]["uniform"]["hinge_active"]
    assert next(line for line in text if line.startswith("  uniform ")).endswith(f"{100 * hinge:.1f} %")
    assert f"  target w1: {entry['words'][0]['positions']} times, {entry['words'][0]['wrong']} of them wrong" in text
    assert text[-1] == ""


def test_a_sum_of_losses_has_the_margin_of_its_hinge(trained):
    parts = {"main_loss": "vmf_posterior", "main_options": "", "auxiliary_options": "margin=0.3"}
    made = report(trained, _name="combined", auxiliary_loss="syn_margin_proj", **parts)
    assert next(lines(made)) == "a.pt: combined, margin 0.3, epoch 3"


def test_what_is_not_there_is_a_dash(trained):
    """No margin, no position, no wrong prediction."""
    made = report(trained, _name="vmf")
    (entry,) = made["checkpoints"]
    entry["own_decoding"]["nearest_when_wrong"] = None
    entry["stability"]["difference"]["lambda3"] = {"count": 0}
    entry["words"] = [{"word": "w1", "positions": 0, "wrong": 0, "mean": None, "mean_when_wrong": None}]
    text = list(lines(copy.deepcopy(made)))
    assert text[0] == "a.pt: vmf, epoch 3"
    assert next(line for line in text if line.startswith("  wrong prediction: cosine to nearest")).split()[-1] == "-"
    assert next(line for line in text if line.startswith("  projection ")).split()[-1] == "-"
    assert next(line for line in text if line.startswith("  difference ")).split()[1] == "-"
    assert text[-2] == "  target w1: 0 times, 0 of them wrong"
