"""fairseq's ``--tensorboard-logdir`` writes down what the suite logs."""

from __future__ import annotations

from pathlib import Path

import parallel_text
import pytest
import tiny_words

pytestmark = pytest.mark.slow
reading = pytest.importorskip(
    "tensorboard.backend.event_processing.event_accumulator",
    reason="TensorBoard is not installed: bash scripts/setup.sh --extras tensorboard",
)


def figures(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Updates and values by name, of the event files in a folder."""
    events = reading.EventAccumulator(str(folder))
    events.Reload()
    return {name: [(one.step, one.value) for one in events.Scalars(name)] for name in events.Tags()["scalars"]}


def test_the_event_files_hold_our_figures(forks, tmp_path):
    pairs = [(f"v{n % 5} v{n % 7}", f"w{n % 5} w{n % 7}") for n in range(24)]
    parallel_text.prepare(tmp_path, train=pairs, valid=pairs)
    vectors = tiny_words.write_vectors(tmp_path / "en.vec", 7, 8)
    done = forks.run(
        *("fairseq-train", "bin", "--user-dir", Path(__file__).resolve().parents[2] / "fairseq_xl", "--cpu"),
        *("--arch", "continuous_lstm_tiny", "--criterion", "syn_margin_proj", "--target-vectors", vectors),
        *("--optimizer", "adam", "--lr", 0.01, "--batch-size", 8, "--max-update", 6, "--log-interval", 1),
        *("--num-workers", 0, "--no-save", "--no-progress-bar", "--tensorboard-logdir", "curves"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr[-3000:]

    inner, train, valid = (figures(tmp_path / "curves" / name) for name in ("train_inner", "train", "valid"))
    for found in (inner, train, valid):
        assert found.keys() >= {"loss", "cosine", "kappa", "hinge"}
        assert all(-1 <= value <= 1 for _, value in found["cosine"])
        assert all(value > 0 for _, value in found["kappa"])
        assert all(0 <= value <= 1 for _, value in found["hinge"])
    assert [update for update, _ in inner["cosine"]] == [1, 2, 3, 4, 5, 6]
    assert [update for update, _ in valid["accuracy"]] == [3, 6]
    assert all(0 <= value <= 100 for _, value in valid["accuracy"])
