"""The quickstart: what it prints and leaves behind, that a second run repeats nothing, and when it fails."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")

ROOT = Path(__file__).resolve().parents[2]
RECIPE = ROOT / "recipes" / "quickstart.sh"
LOSSES = ("syn_margin_proj", "vmf")


@pytest.fixture(scope="module")
def environment(forks) -> dict[str, str]:
    """This interpreter's commands on the path, in forks but for Python's own."""
    return forks.environment()


def quickstart(environment: dict[str, str], *arguments: object, timeout: float = 1800):
    return subprocess.run(
        ["bash", str(RECIPE), "--no-install", *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


@pytest.fixture(scope="module")
def finished(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory):
    """One whole run with two thirds of the epochs and sentences, which 60 BLEU does not need."""
    out = tmp_path_factory.mktemp("quickstart") / "out"
    return out, quickstart(environment, "--out", out, "--train", 3000, "--epochs", 6)


@pytest.mark.slow
def test_it_reports_everything_it_promises(finished) -> None:
    out, result = finished
    assert result.returncode == 0, result.stderr[-3000:]
    for loss in LOSSES:
        line = next(li for li in result.stdout.splitlines() if re.match(rf"  {loss} +BLEU\|", li))
        assert re.search(r"nrefs:1\|case:mixed\|eff:no\|tok:13a\|smooth:exp\|version:", line)
        assert float(re.search(r" = ([\d.]+)", line)[1]) >= 60
        assert len((out / loss / "test.hyp").read_text(encoding="utf-8").splitlines()) == 200
        assert re.search(r"epoch 6: validation loss [-\d.]+, accuracy@1 [\d.]+ %", result.stderr)
    reference = (out / "text" / "test.en").read_text(encoding="utf-8").splitlines()
    for line in reference[:5]:
        assert f"  reference        {line}\n" in result.stdout
    near = result.stdout.split("Each predicted word")[1].split("sacreBLEU on")[0]
    # the end of the sentence is predicted as well
    assert len(re.findall(r"^  \S+ +\d\.\d\d .*\|(  ?\S+ -?\d\.\d\d){5}$", near, re.M)) >= 5
    packed = result.stdout.split("The packed model: ")[1]
    source = (out / "text" / "test.qel").read_text(encoding="utf-8").splitlines()
    translated = (out / "new.en").read_text(encoding="utf-8").splitlines()
    for line, translation in zip(source[:3], translated, strict=True):
        assert f"  {line}\n  {translation}\n" in packed
    *from_python, alike = (out / "try.out").read_text(encoding="utf-8").splitlines()
    assert from_python == translated, "the command and the lines of Python say the same"
    assert all(f"  {line}\n" in packed for line in (out / "try.py").read_text(encoding="utf-8").splitlines() if line)
    numbers = [int(number) for number in alike.split()]
    assert numbers[0] == 1, "the nearest to a sentence is itself"
    assert all(f"  {reference[number - 1]}\n" in packed for number in numbers)
    vectors = np.load(out / "test.npy")
    assert vectors.shape == (200, 128)
    assert [*np.argsort(-(vectors @ vectors[0]))[:4] + 1] == numbers
    plot = Path(re.search(r"^Training curves: (.+)$", result.stdout, re.M)[1])
    assert plot == out / "curves.png"
    assert plot.read_bytes()[:4] == b"\x89PNG"


@pytest.mark.slow
def test_a_second_run_repeats_nothing_and_reports_the_same(finished, environment: dict[str, str]) -> None:
    out, first = finished
    assert first.returncode == 0
    names = [out / loss / "checkpoints" / "checkpoint_best.pt" for loss in LOSSES]
    before = [name.stat().st_mtime_ns for name in names]
    second = quickstart(environment, "--out", out, "--train", 3000, "--epochs", 6)
    assert second.returncode == 0
    assert [name.stat().st_mtime_ns for name in names] == before
    stages = re.findall(r"^== (.*)$", second.stderr, re.M)
    assert len(stages) == 18
    assert all(stage.endswith(": done before") for stage in stages)
    assert _without_time(second.stdout) == _without_time(first.stdout)


@pytest.mark.slow
def test_low_scores_fail_with_a_sentence(finished, environment: dict[str, str], tmp_path: Path) -> None:
    """The finished run again with sacreBLEU's own line for translations that run on without end."""
    out = tmp_path / "out"
    shutil.copytree(finished[0], out)
    endless = tmp_path / "endless.txt"
    endless.write_text(("the dog the dog the dog " * 30 + "\n") * 200, encoding="utf-8")
    score = [sys.executable, "-m", "sacrebleu", out / "text" / "test.en", "--format", "text", "--force"]
    with endless.open() as hypotheses, (out / "vmf" / "score").open("w") as line:
        subprocess.run([*map(str, score)], stdin=hypotheses, stdout=line, check=True)
    result = quickstart(environment, "--out", out, "--train", 3000, "--epochs", 6)
    assert result.returncode == 1
    assert "error: below 60 BLEU: vmf;" in result.stderr
    assert "Training curves:" in result.stdout


def test_mistakes_end_with_a_sentence_before_any_work(environment: dict[str, str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    unknown = quickstart(environment, "--out", out, "--quick")
    assert unknown.returncode == 2
    assert unknown.stderr == "error: quickstart.sh has no option '--quick': see --help\n"
    number = quickstart(environment, "--out", out, "--epochs", "few")
    assert number.returncode == 2
    assert "--epochs is 'few'" in number.stderr
    assert not out.exists()


def test_fewer_epochs_than_were_trained_are_refused(recipe) -> None:
    made = recipe("quickstart.sh")
    first = made("--no-install", "--epochs", 5, FAIL_AT="fairseq-generate")
    assert first.returncode == 3, first.stderr
    run = made.out / LOSSES[0]
    saved = "Saved checkpoint /x/checkpoint_best.pt (epoch 5 @ 9 updates, score 1)\n"
    (run / "train.log").write_text(saved)
    fewer = made("--no-install", "--epochs", 3)
    assert fewer.returncode == 2
    assert f"error: --epochs is 3, and {run} has 5 already: give --epochs 5 or more, or another --out\n" in fewer.stderr
    for epochs in (5, 7):
        made("--no-install", "--epochs", epochs, FAIL_AT="fairseq-generate")
        assert "fairseq-generate --user-dir" in made.calls


def test_help_says_what_it_does_and_every_option(environment: dict[str, str]) -> None:
    result = quickstart(environment, "--help")
    assert result.returncode == 0
    for option in ("--out", "--seed", "--epochs", "--train", "--no-install"):
        assert option in result.stdout


def _without_time(text: str) -> str:
    return re.sub(r"\(\d+ seconds of work\)", "", text)


def test_a_folder_of_the_users_own_is_left_alone(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "mine").touch()
    result = quickstart(environment, "--out", tmp_path)
    assert result.returncode == 2
    assert result.stderr == f"error: {tmp_path} holds files that no recipe wrote: name a new folder with --out\n"
    assert [path.name for path in tmp_path.rglob("*")] == ["bin", "mine"]
