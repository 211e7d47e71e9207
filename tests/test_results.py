"""The script that keeps measured records and prints their tables."""

from __future__ import annotations

import json
import re
from pathlib import Path

import experiments
import finished_runs
import pytest
import result_names
import results as script
from fairseq.criterions import CRITERION_DATACLASS_REGISTRY

import fairseq_xl  # noqa: F401  (registers the losses)
from fairseq_xl.experiment.state import State
from fairseq_xl.report.word_recall import group_names


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(script, "RECORDS", tmp_path / "records")
    monkeypatch.setattr(script, "TRIALS", tmp_path / "records" / "trials")
    monkeypatch.setattr(script, "CURVES", tmp_path / "records" / "curves")
    return script


@pytest.fixture
def finished(tmp_path):
    """``finished(name, test=…, bleu=…)`` writes the folder of a finished run."""

    def write(name: str, bleu: float, test: str = "test", **changes: object) -> Path:
        about = {
            "recipe": "multi30k.sh",
            "loss": "vmf",
            "search": "--max-len-a 1.5 --max-len-b 5",
            "device": "cpu: one",
            "epochs": 5,
            "seconds_per_epoch": 39.7,
            "command": "fairseq-train /secret/data",
            "training": {
                "model": {"_name": "continuous_lstm", "target_vectors": "/secret/en.vec"},
                "common": {},
                "criterion": {"lambda1": 0.02},
                "optimization": {"lr": [0.002]},
            },
        }
        record = finished_runs.record(name, bleu, test, **{**about, **changes})
        return experiments.write_record(tmp_path, name, record).parent

    return write


def test_the_table_has_mean_and_deviation_over_seeds(results, finished, capsys):
    runs = [finished("a", 30.0), finished("b", 32.0, seed=2, seconds_per_epoch=8.4)]
    runs.append(finished("c", 33.0, loss="cosine", epochs=8))
    results.keep(runs, results.RECORDS)
    capsys.readouterr()
    results.table()
    rows = capsys.readouterr().out.splitlines()
    assert rows[2:4] == [
        "| Multi30k de→en | `cosine` | 33.1 | 33.5 | 66.0 | 1 | 8 | 40 | 5 |  |",
        "| Multi30k de→en | `vmf` | 31.1 ± 1.4 | 31.5 ± 1.4 | 62.0 ± 2.8 | 1, 2 | 5 | 8 to 40 | 1 to 3 |  |",
    ]
    bleu, chrf = (f"{metric}: {text}" for metric, text in finished_runs.SIGNATURES.items())
    assert rows[-3:] == [bleu, "", chrf]


def test_the_table_counts_the_softmax_before_into_the_minutes(results, finished, capsys):
    of_softmax = {"targets": "softmax", "training_seconds": 300.0}
    targets_run = {"training_seconds": 420.0}
    recorded = finished("a", 30.0, targets_run=targets_run, peak_MiB=1234.4, **of_softmax)
    results.keep([recorded, finished("b", 30.0, seed=2, **of_softmax)], results.RECORDS)
    results.table()
    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("| Multi30k"))
    assert row.endswith("| 1, 2 | 5 | 40 | 12 | 1,234 |"), "no minutes of a run without those of its softmax"


def test_rare_words(results, finished, capsys):
    def recall(right: int) -> dict[str, object]:
        counts = {name: {"words": 8, "right": 2} for name in group_names()}
        return {"test": {"beam5": counts | {"0": {"words": 10, "right": right}, "1": {"words": 0, "right": 0}}}}

    runs = [finished(name, 30.0, seed=seed, word_recall=recall(seed)) for name, seed in (("a", 1), ("b", 2))]
    other = {"a.set": recall(9)["test"]}
    others = [finished("c", 30.0, loss="cosine"), finished("d", 30.0, loss="l2", word_recall=other)]
    results.keep([*runs, *others], results.RECORDS)
    capsys.readouterr()
    results.words()
    rows = capsys.readouterr().out.splitlines()
    assert rows[2:] == [
        "| Multi30k de→en | `vmf` | 15.0 ± 7.1 |  | 25.0 ± 0.0 | 25.0 ± 0.0 | 25.0 ± 0.0 | 25.0 ± 0.0 | 2 |"
    ]


def test_no_record_of_rare_words(results, finished):
    results.keep([finished("a", 30.0)], results.RECORDS)
    with pytest.raises(SystemExit, match="has its recall of words"):
        results.words()


def test_what_is_not_the_same_has_a_row_of_its_own(results, finished, capsys):
    usual = {"model": {"_name": "continuous_lstm"}, "criterion": {"lambda1": 0.02}, "optimization": {"lr": [0.002]}}
    plain = {**usual, "criterion": {"lambda1": 0}}
    faster = {**usual, "optimization": {"lr": [0.004]}}
    transformer = {**usual, "model": {"_name": "continuous_transformer", "encoder_embed_dim": 128}}
    stock = {**usual, "model": {"_name": "transformer_iwslt_de_en", "encoder_embed_dim": 128}}
    narrow = {**usual, "model": {"_name": "continuous_lstm", "encoder_embed_dim": 128}}
    untied = {**usual, "model": {"_name": "continuous_lstm", "untie_decoder_input": True}}
    scaled = {**plain, "model": {"_name": "continuous_lstm", "output_scale": 30.0, "decode_score": "cosine"}}
    wider = {**usual, "criterion": {"lambda1": 0.02, "margin": 0.7}}
    sampled = {**usual, "criterion": {"negatives": 1000}}
    contrastive = {**usual, "model": {"_name": "continuous_lstm", "decode_score": "cosine"}}
    changes = [
        *({}, {"recipe": "tatoeba.sh"}, {"targets": "softmax"}, {"transform": "--random-share 1"}),
        *({"training": plain}, {"training": faster}, {"training": transformer}, {"search": "--lenpen 2"}),
        *({"training": wider}, {"loss": "stock_transformer", "subwords": "bpe8.joint", "training": stock}),
        *({"training": narrow}, {"training": untied}, {"training": scaled}),
        {"training": untied, "targets": "softmax", "target_epochs": "3", "warm_start": "yes"},
        {"teacher": "softmax.seed1 (0a1b2c3d)"},
        *({"subwords": "bpe8.source", "target_min_count": "1"}, {"source_min_count": "5"}, {"device": "cuda: H100"}),
        *({"loss": "vmf_posterior", "training": sampled}, {"loss": "info_nce", "training": contrastive}),
        {"loss": "cross_entropy", "softmax_negatives": "1000"},
        {"targets": "softmax", "target_epochs": "3", "softmax_negatives": "1000"},
    ]
    results.keep([finished(f"vmf.{n}", 30.0 - n, **change) for n, change in enumerate(changes)], results.RECORDS)
    capsys.readouterr()
    results.table()
    rows = [row.split(" | ")[:2] for row in capsys.readouterr().out.splitlines()[2:-4]]
    assert rows == [
        ["| Multi30k de→en", "`vmf`"],
        ["| Multi30k de→en", "`vmf`, targets of a softmax"],
        ["| Multi30k de→en", "`vmf`, `--random-share 1`"],
        ["| Multi30k de→en", "`vmf`, plain likelihood"],
        ["| Multi30k de→en", "`vmf`, lr 0.004"],
        ["| Multi30k de→en", "`vmf`, on a Transformer of 128 units"],
        ["| Multi30k de→en", "`vmf`, decoding tuned"],
        ["| Multi30k de→en", "`vmf`, margin 0.7"],
        ["| Multi30k de→en", "`stock_transformer`, `bpe8.joint`, on a Transformer of 128 units"],
        ["| Multi30k de→en", "`vmf`, 128 units"],
        ["| Multi30k de→en", "`vmf`, decoder input learnt"],
        ["| Multi30k de→en", "`vmf`, outputs × 30, plain likelihood, scored by cosine"],
        ["| Multi30k de→en", "`vmf`, targets of a softmax of 3 epochs, which it goes on from"],
        ["| Multi30k de→en", "`vmf`, distilled"],
        ["| Multi30k de→en", "`vmf`, `bpe8.source`, all target words"],
        ["| Multi30k de→en", "`vmf`, source words seen 5 times"],
        ["| Multi30k de→en", "`vmf`, on a GPU"],
        ["| Multi30k de→en", "`vmf_posterior`, 1,000 samples"],
        ["| Multi30k de→en", "`info_nce`"],
        ["| Multi30k de→en", "`cross_entropy`, 1,000 samples"],
        ["| Multi30k de→en", "`vmf`, targets of a softmax of 3 epochs with 1,000 samples"],
        ["| Tatoeba de→en", "`vmf`"],
    ]


def test_longer_training_is_another_system(results, finished, capsys):
    results.keep([finished("a", 30.0), finished("b", 34.0, seed=2, epochs=16)], results.RECORDS)
    capsys.readouterr()
    results.table()
    rows = [row.split(" | ") for row in capsys.readouterr().out.splitlines()[2:-4]]
    assert [(row[1], row[5:7]) for row in rows] == [("`vmf`, 16 epochs", ["2", "16"]), ("`vmf`", ["1", "5"])]


@pytest.mark.parametrize(
    ("loss", "section", "option", "values"),
    [
        ("info_nce", "criterion", "scale", (20.0, 5.0)),
        ("negative_sampling", "criterion", "negatives", (5, 50)),
        ("vmf", "optimization", "clip_norm", (0.0, 1.0)),
    ],
)
def test_runs_of_different_options_are_no_seeds_of_one_system(results, finished, loss, section, option, values):
    usual = {"model": {}, "criterion": {"lambda1": 0.02}, "optimization": {"lr": [0.002]}}
    for seed, value in enumerate(values, 1):
        training = {**usual, section: {**usual[section], option: value}}
        results.keep([finished(f"seed{seed}", 30.0, seed=seed, loss=loss, training=training)], results.RECORDS)
    said = f"{section}.{option} {values[0]} (seed1), {values[1]} (seed2): let scripts/result_names.py"
    with pytest.raises(SystemExit, match=f"Multi30k de→en, `{loss}`, with {re.escape(said)}"):
        results.main(["table"])


def test_runs_of_one_system_may_differ_in_what_has_no_effect(results, finished, capsys):
    usual = {"criterion": {}, "optimization": {"lr": [0.002]}}
    older = {**usual, "model": {"decode_score": "cosine"}}
    newer = {**usual, "model": {"decode_score": "vmf_posterior", "new_option": 1}, "dataset": {"num_workers": 1}}
    for seed, training in ((1, older), (2, newer)):
        run = finished(f"seed{seed}", 30.0, seed=seed, loss="cross_entropy", training=training)
        results.keep([run], results.RECORDS)
    capsys.readouterr()
    results.table()
    assert capsys.readouterr().out.splitlines()[2].startswith("| Multi30k de→en | `cross_entropy` | 30.1 ± 0.0 |")


def test_a_margin_is_named_where_it_is_not_the_losss_own():
    own = {
        name: config().margin
        for name, config in CRITERION_DATACLASS_REGISTRY.items()
        if config.__module__.startswith("fairseq_xl.continuous") and hasattr(config, "margin")
    }
    assert len(own) >= 5
    assert own == {name: result_names.RECIPES_MARGINS.get(name, result_names.OTHER_MARGINS) for name in own}


def test_differences_from_a_baseline(results, finished, capsys):
    runs = [finished(f"vmf.{seed}", 30.0 + seed, seed=seed) for seed in (1, 2, 3)]
    runs += [finished(f"cosine.{seed}", 26.0 + seed, loss="cosine", seed=seed) for seed in (1, 2, 3)]
    runs += [finished("l2", 34.5, loss="l2"), finished("other", 9.0, loss="l2", source="fr")]
    results.keep(runs, results.RECORDS)
    capsys.readouterr()
    results.compare("vmf")
    assert capsys.readouterr().out.splitlines()[2:] == [
        "| Multi30k de→en | `l2` | +2.5 | +2.5 | +5.0 | +5.0 |",
        "| Multi30k de→en | `cosine` | −4.0 (0.008) | −4.0 (0.008) | −8.0 (0.008) | −8.0 (0.008) |",
    ]
    with pytest.raises(SystemExit, match="no run of cross_entropy is kept"):
        results.compare("cross_entropy")


def test_predictions_are_means_over_seeds(results, finished, capsys):
    def measured(cosine):
        names = ("nearest_when_correct", "nearest_when_wrong", "target_when_wrong")
        return {**dict.fromkeys(names, cosine), "accuracy": dict.fromkeys(("1", "2", "5", "10"), 100 * cosine)}

    for seed, cosine in ((1, 0.5), (2, 0.7)):
        run = finished(f"vmf.{seed}", 30.0, seed=seed)
        found = {"teacher_forcing": measured(cosine), "own_decoding": measured(cosine / 2)}
        (run / "diagnostics.json").write_text(json.dumps({"split": "valid", "checkpoints": [found]}))
        results.keep([run], results.RECORDS)
    results.keep([finished("cosine", 30.0, loss="cosine")], results.RECORDS)
    capsys.readouterr()
    results.predictions(["vmf"])
    assert [row.split(" | ")[2:] for row in capsys.readouterr().out.splitlines()[2:]] == [
        ["teacher forcing", "0.600", "0.600", "0.600", "60.0", "60.0", "60.0", "60.0 |"],
        ["own decoding", "0.300", "0.300", "0.300", "30.0", "30.0", "30.0", "30.0 |"],
        ["", "0.96", "0.91", "0.39", "23.6", "28.9", "32.2", "34.8 |"],
    ]
    with pytest.raises(SystemExit, match="nothing was measured of the predictions of `cosine`"):
        results.predictions(["cosine"])


def test_the_pages_have_the_tables_of_the_records():
    tables = 0
    for path in script.PAGES:
        text = path.read_text(encoding="utf-8")
        assert text.count("<!-- results.py ") == text.count("<!-- end -->")
        tables += len(script.BLOCK.findall(text))
        assert script.filled(text) == text, f"{path.name}: run scripts/results.py update"
    assert tables >= 7


def test_the_chosen_rows_are_those_of_the_readme(results, finished, capsys, monkeypatch):
    results.keep([finished("a", 30.0), finished("b", 32.0, seed=2), finished("c", 40.0, source="fr")], results.RECORDS)
    capsys.readouterr()
    monkeypatch.setattr(results, "CHOSEN", {"`vmf`": "the von Mises-Fisher loss"})
    results.chosen()
    assert capsys.readouterr().out.splitlines()[2:] == [
        "| the von Mises-Fisher loss | 31.1 ± 1.4 | 31.5 ± 1.4 | 2 | 5 |"
    ]
    monkeypatch.setattr(results, "CHOSEN", {"`l2`": "the square"})
    with pytest.raises(SystemExit, match="no run of `l2` is kept"):
        results.chosen()


def test_a_kept_record_names_no_folder_and_only_settings_that_matter(results, finished):
    results.keep([finished("a", 30.0)], results.RECORDS)
    text = (results.RECORDS / "multi30k.a.json").read_text()
    assert "secret" not in text
    model = {"_name": "continuous_lstm", "target_vectors": "en.vec"}
    kept = {"model": model, "criterion": {"lambda1": 0.02}, "optimization": {"lr": [0.002]}}
    assert json.loads(text)["training"] == kept


def test_trials_are_kept_apart_and_ordered_by_loss_and_score(results, finished, capsys):
    runs = [
        finished("trial.vmf.seed1", 20.0, "val"),
        finished("trial.vmf_lr_1e-3.seed1", 25.0, "val"),
        finished("trial.softmax_dropout_0.2.seed1", 30.0, "val", loss="cross_entropy", epochs=3),
    ]
    results.keep(runs, results.TRIALS)
    capsys.readouterr()
    results.trials()
    assert capsys.readouterr().out.splitlines()[2:] == [
        "| `cross_entropy` | dropout 0.2 | 3 | 30.1 | 30.5 |",
        "| `vmf` | lr 1e-3 | 5 | 25.1 | 25.5 |",
        "| `vmf` | first settings | 5 | 20.1 | 20.5 |",
    ]
    with pytest.raises(SystemExit, match="no records are kept"):
        results.table()


def test_a_curve_is_the_best_so_far_by_minutes_and_by_epochs(results, finished, make_run, capsys):
    measured = {
        "split": "valid",
        "checkpoints": [
            {"updates": updates, "stability": {"projection": {"lambda3": {"mean": 0.5, "histogram": [1]}}}}
            for updates in (10, 20, 20)
        ],
    }
    run = finished("curves.vmf.seed1", 30.0, epochs=2)
    log = make_run("made-up", measure="bleu").joinpath("train.log").read_text()  # 31 BLEU after 1.5 minutes, then 32
    (run / "train.log").write_text(log.replace('"32.0"', '"29.0"'))
    (run / "diagnostics.json").write_text(json.dumps(measured))
    results.keep([run], results.CURVES)
    kept = json.loads((results.CURVES / "multi30k.curves.vmf.seed1.json").read_text())
    quality = {"sentences_per_second": 120, "epochs, minutes, BLEU": [[1, 1.5, 31], [2, 3, 29]]}
    assert kept["quality"] == quality
    assert "peak_MiB" not in kept, "run without the runner, nobody measured its memory"
    state = State(run.parents[1] / "experiment.json")
    state[run.name].peak_MiB = 1148.6
    state.save()
    results.keep([run], results.CURVES)
    kept = json.loads((results.CURVES / "multi30k.curves.vmf.seed1.json").read_text())
    assert kept["peak_MiB"] == 1148.6
    negatives = {"projection": {"lambda3": {"mean": 0.5}}}
    assert kept["negatives"] == [{"updates": 10, **negatives}, {"updates": 20, **negatives}], "no copy of the best"
    capsys.readouterr()
    results.curves()
    row = capsys.readouterr().out.splitlines()[2].split(" | ")
    assert row[2] == "120"
    assert row[3] == "1,149"
    assert row[4:8] == ["31.0"] * 4, "minutes: the best until then"
    assert row[8:] == ["31.0", "", "", "", "31.0 (epoch 1, 1.5 min) |"], "epochs: none beyond the last"
    record = json.loads((run / "record.json").read_text())
    (run / "record.json").write_text(json.dumps({**record, "device": "cuda: a GPU"}))
    results.keep([run], results.CURVES)
    assert (results.CURVES / "multi30k.curves.vmf.seed1.gpu.json").is_file(), "beside that of the CPU"
    assert json.loads((results.CURVES / "multi30k.curves.vmf.seed1.json").read_text()) == kept
    capsys.readouterr()
    results.main(["curves", "--gpu"])
    assert capsys.readouterr().out.splitlines()[2:] == ["| Multi30k de→en | `vmf` | 31.0 |  |  |  | 31.0 (epoch 1) |"]
    results.main(["curves"])
    assert len(capsys.readouterr().out.splitlines()) == 3, "each table has its own"
    log = make_run("unmeasured").joinpath("train.log").read_text()
    (run / "train.log").write_text(log)
    with pytest.raises(SystemExit, match="no BLEU of validations: train with --eval-bleu"):
        results.keep([run], results.CURVES)


def test_a_trial_is_no_row_of_the_table(results, finished):
    with pytest.raises(SystemExit, match="no scores of the recipe's own test set"):
        results.keep([finished("trial.vmf.seed1", 20.0, "val")], results.RECORDS)


def test_an_unfinished_run_is_named(results, tmp_path):
    with pytest.raises(SystemExit, match=r"there is no .*record\.json: give the folder of a finished run"):
        results.keep([tmp_path / "nowhere"], results.RECORDS)


def test_overrides_read_as_options():
    assert result_names.as_options("--unkpen 3 --temperature 1.5") == "--unkpen 3 --temperature 1.5"
    given = "--lenpen 0.5 --model-overrides {'decode_score':'cosine','decode_scale':20,'decode_csls_weight':-0.25}"
    assert result_names.as_options(given) == (
        "--lenpen 0.5 --decode-score cosine --decode-scale 20 --decode-csls-weight -0.25"
    )
