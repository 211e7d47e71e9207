"""Commands in hostile circumstances: the mode of scripts/fuzz.py that draws them, and what it calls a fault."""

from __future__ import annotations

import dataclasses
import json
import random
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from fuzzing import commands, draw, lines, places
from fuzzing.carry import Outcome
from fuzzing.judge import Whole, judge, judge_again

from fairseq_xl.cli.main import COMMANDS
from fairseq_xl.cli.parsing import load

ROOT = Path(__file__).resolve().parent.parent

LINES = range(len(lines.lines()))


def names(table: Mapping[str, tuple[str, str]], before: str = "") -> Iterator[str]:
    for name, (place, _) in table.items():
        found = load(place)
        yield from names(found, f"{before}{name} ") if isinstance(found, Mapping) else [before + name]


def test_every_command_has_a_line() -> None:
    elsewhere = ("eole train", "eole predict")  # in an environment of their own
    assert {draw.good(line).name for line in LINES} == set(names(COMMANDS)).difference(elsewhere)


def test_a_seed_draws_the_same_cases(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for number in range(3 * len(LINES)):
        case = draw.draw(number % len(LINES), f"s {number}", tmp_path)
        assert case == draw.draw(number % len(LINES), f"s {number}", tmp_path)
        assert draw.Case(**json.loads(json.dumps(dataclasses.asdict(case)))) == case


def test_each_round_has_every_line() -> None:
    drawn = commands.turns([3, 4, 5], "s")
    rounds = [[next(drawn) for _ in range(3)] for _ in range(9)]
    assert [sorted(line for _, line in each) for each in rounds] == [[3, 4, 5]] * 9
    assert [number for each in rounds for number, _ in each] == list(range(27))
    with pytest.raises(ValueError, match="no command data cleen"):
        commands.chosen(["data clean", "data cleen"])


PLACES = {"in/file": places.INPUT_FILES, "in/folder": places.INPUT_FOLDERS, "out/file": places.OUTPUTS}


@pytest.mark.parametrize(("path", "state"), sorted({(path, one) for path, states in PLACES.items() for one in states}))
def test_places_can_be_arranged(path: str, state: str, tmp_path: Path) -> None:
    for folder in ("in/folder", "out", "elsewhere"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("in/file", "in/folder/file"):
        (tmp_path / name).write_text(f"some text of {name}\nmore text\n")
    before = places.tree(tmp_path)
    places.arrange(tmp_path, path, state, "s")
    alone = state in ("another file", "another folder")  # there may be no other
    assert alone or places.tree(tmp_path) != before
    for folder in (tmp_path / "in" / "folder", tmp_path / "out", tmp_path / "out" / "file"):
        if folder.is_dir():
            folder.chmod(0o755)


CASE = draw.good(next(line for line in LINES if draw.good(line).name == "data clean"))
BEFORE = {
    "/dev/null": ("device", 0o20666, "259"),
    "here/canary": ("file", 0o644, "c"),
    "here/in/train.de": ("file", 0o644, "i"),
}
GOOD = {"here/out/a.de": ("file", 0o644, "a"), "here/out/a.en": ("file", 0o644, "b")}
WHOLE = Whole(1.0, False, {"here/out/a.de": "a", "here/out/a.en": "b"}, set(GOOD), True)
REFUSED = "error: there is no file in/train.de\n"


def outcome(status: int | None, err: str = "", after: Mapping | None = None, **changes: object) -> Outcome:
    return Outcome(status, 1.0, "", err, BEFORE, {**BEFORE, **(after or {})}, **{"was_killed": False, **changes})


@pytest.mark.parametrize(
    "done",
    [
        outcome(0, "160 pairs\n", GOOD),
        outcome(2, REFUSED),
        outcome(2, "usage: fairseq-xl data clean [-h]\nfairseq-xl data clean: error: no such option\n"),
        outcome(-9, was_killed=True),
        outcome(-9, after={**GOOD, "here/out/.a.de.0123456789ab.tmp": ("file", 0o644, "x")}, was_killed=True),
    ],
)
def test_what_is_as_it_should_be(done: Outcome) -> None:
    assert judge(CASE, done, WHOLE) == []


TRACEBACK = 'Traceback (most recent call last):\n  File "/x/fairseq_xl/io/a.py", line 3, in read\nKeyError: 1\n'


@pytest.mark.parametrize(
    ("done", "family"),
    [
        (outcome(1, TRACEBACK), "traceback: KeyError in fairseq_xl/io/a.py read"),
        (outcome(None), "hang in somewhere"),
        (outcome(-11), "status -11 of data clean"),
        (outcome(1, REFUSED), "status 1 of data clean"),
        (outcome(2), "status 2 without a sentence: data clean"),
        (outcome(0, REFUSED, GOOD), "status 0 after an error: data clean"),
        (outcome(2, REFUSED * 2), "several sentences: data clean"),
        (outcome(2, f"error: {'x' * 3000}\n"), "a long sentence: data clean"),
        (outcome(2, REFUSED, {"here/in/train.de": ("file", 0o644, "z")}), "lost: an input has changed, data clean"),
        (
            outcome(0, "", {**GOOD, "/dev/null": ("device", 0o644, "")}),
            "lost: a device had mode 20666 and has 644, data clean",
        ),
        (outcome(2, REFUSED, {"here/canary": ("file", 0o600, "c")}), "lost: a canary had mode 644 and has 600, data"),
        (outcome(0, "", {**GOOD, "here/b": ("file", 0o644, "")}), "stray, data clean"),
        (outcome(0, "", {"here/out/.a.de.0123456789ab.tmp": ("file", 0o644, "")}), "left behind, data clean"),
        (outcome(-9, "", {"here/out/a.de": ("file", 0o644, "h")}, was_killed=True), "half an output, data clean"),
    ],
)
def test_what_is_a_fault(done: Outcome, family: str) -> None:
    assert [fault.family[: len(family)] for fault in judge(CASE, done, WHOLE)] == [family]


def test_hidden_files_of_a_whole_folder_are_no_remainders() -> None:
    case = draw.good(next(line for line in LINES if draw.good(line).name == "embed prepare"))
    files = {f"here/out/data/{name}": ("file", 0o644, name) for name in (".written", ".en-de.done")}
    assert judge(case, outcome(0, "", files), Whole(1.0, False, {}, set(), True)) == []
    lock = {"here/out/.data.lock": ("file", 0o644, "")}
    assert [fault.family for fault in judge(case, outcome(0, "", lock), WHOLE)] == ["left behind, embed prepare"]


def of(name: str) -> draw.Case:
    return draw.good(next(line for line in LINES if draw.good(line).name == name))


@pytest.mark.parametrize(
    ("name", "outputs", "link", "new"),
    [
        ("corpus run", None, ("here/in/half", "aside.half"), "here/in/aside.half/topics.md"),
        ("experiment report", None, ("here/in/out", "aside.out"), "here/in/aside.out/report/index.html"),
        ("vectors random", ["out/a.npy"], ("here/out/a.npy", "{here}/elsewhere/x"), "here/out/a.vocab"),
        ("data split", [".."], None, "train.en"),
        ("data fetch", None, None, "here/out/.archive.tar.gz.part.version"),
        ("vectors train", ["/dev/null"], None, None),
    ],
)
def test_where_output_may_go(
    name: str, outputs: list[str] | None, link: tuple[str, str] | None, new: str | None
) -> None:
    case = of(name)
    case.outputs = outputs or case.outputs
    before = {**BEFORE, **({link[0]: ("link", 0o777, link[1].format(here="/tmp/x/here"))} if link else {})}
    for path in filter(None, (new, "here/strange", "/dev/null.bin")):
        done = Outcome(0, 1.0, "", "", before, {**before, path: ("file", 0o644, "")}, was_killed=False)
        expected = [] if path == new or (outputs == [".."] and path.startswith("here")) else [f"stray, {name}"]
        assert [fault.family for fault in judge(case, done, Whole(1.0, False, {}, set(), True))] == expected, path


def test_what_a_command_says_of_its_speed_makes_no_other_file(tmp_path: Path) -> None:
    trees = []
    for seconds in (0.1, 20.5):
        (tmp_path / "a.json").write_text(json.dumps({"seconds_per_epoch": seconds, "score": 1}))
        trees.append(places.tree(tmp_path))
    assert trees[0] == trees[1]
    (tmp_path / "a.json").write_text(json.dumps({"seconds_per_epoch": 0.1, "score": 2}))
    assert places.tree(tmp_path) != trees[0]
    (tmp_path / "a.json").write_text(json.dumps({"commit": "a"}))
    mended = places.tree(tmp_path)
    for other, same in (({"commit": "a+changes"}, True), ({"commit": None}, True), ({"other": "a"}, False)):
        (tmp_path / "a.json").write_text(json.dumps(other))
        assert (places.tree(tmp_path) == mended) is same, other


def test_an_input_that_stands_where_an_output_is_named_is_one(tmp_path: Path) -> None:
    swapped = []
    for number in range(300):
        case = of("data lexicon")
        draw._words(case, random.Random(number), tmp_path)
        if case.wrong[0].endswith("change places") and case.words[5] == "in/train.en":  # behind -o
            swapped.append(case.outputs)
    assert swapped
    assert all("in/train.en" in outputs for outputs in swapped)


def test_no_place_is_arranged_at_a_name_that_is_too_long(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    assert places.arrange(tmp_path, f"out/{'x' * 300}", "a pipe", "s") is None
    assert list((tmp_path / "out").iterdir()) == []


def test_an_output_in_spite_of_an_error() -> None:
    case = draw.good(next(line for line in LINES if draw.good(line).name == "data lexicon"))
    whole = Whole(1.0, False, {"here/out/lexicon.tsv": "a"}, {"here/out/lexicon.tsv"}, True)
    for content, families in (("a", []), ("b", ["an output in spite of the error, data lexicon"])):
        done = outcome(2, REFUSED, {"here/out/lexicon.tsv": ("file", 0o644, content)})
        assert [fault.family for fault in judge(case, done, whole)] == families


@pytest.mark.parametrize("streams", [{"stdout": "closed"}, {"stderr": "full"}, {"stdin": "closed"}])
def test_what_could_not_be_said_undoes_nothing(streams: dict[str, str]) -> None:
    case = of("data lexicon")
    case.outputs, case.streams = ["out/lexicon.tsv", "in/old.tsv"], streams
    before = {**BEFORE, "here/in/old.tsv": ("file", 0o644, "o")}
    done = Outcome(2, 1.0, "", REFUSED, before, {**before, "here/in/old.tsv": ("file", 0o644, "n")}, was_killed=False)
    found = [fault.family for fault in judge(case, done, WHOLE)]
    assert found == (["lost: an output has changed, data lexicon"] if "stdin" in streams else [])
    case.outputs = ["out/lexicon.tsv"]
    done = outcome(2, REFUSED, {"here/out/lexicon.tsv": ("file", 0o644, "n")})
    found = [fault.family for fault in judge(case, done, WHOLE)]
    assert found == (["an output in spite of the error, data lexicon"] if "stdin" in streams else [])


def test_what_was_killed_ends_as_if_nothing_had_happened() -> None:
    assert judge_again(CASE, outcome(0, "", GOOD), WHOLE) == []
    assert judge_again(CASE, outcome(2, REFUSED), WHOLE) == []
    other = {**GOOD, "here/out/a.en": ("file", 0o644, "z")}
    for done, family in (
        (outcome(1, REFUSED), "not started again, data clean"),
        (outcome(0, "", other), "another result after a kill, data clean"),
        (outcome(0), "lacking after a kill, data clean"),
        (outcome(0, "", {**GOOD, "here/out/.a.de.0123456789ab.tmp": ("file", 0o644, "")}), "left behind after a kill"),
    ):
        assert [fault.family[: len(family)] for fault in judge_again(CASE, done, WHOLE)] == [family]


QUICK = ["--minutes", "5", "--only", "data clean", "data split", "data hypotheses", "user-dir"]


@pytest.mark.slow
def test_commands_withstand_a_few_cases(forks, tmp_path: Path) -> None:
    words = ["commands", "--output", tmp_path / "out", "--most", 40, *QUICK]
    done = forks.run("python-script", ROOT / "scripts" / "fuzz.py", *words)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert re.fullmatch(r"40 cases of 4 commands, 0 faults of 0 kinds\n", done.stdout), done.stdout
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_what_fails_is_kept_and_repeated(forks, tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text(
        "import runpy, sys\nfrom pathlib import Path\nfrom fairseq_xl.text.splits import parallel\n"
        "def broken(*_):\n    Path('canary').unlink()\n    raise KeyError('oops')\n"
        "parallel.cut = broken\nlines = sys.modules\n"
        f"sys.path[:0] = [{str(ROOT / 'scripts')!r}, {str(ROOT / 'tests' / 'helpers')!r}]\n"
        "from fuzzing import commands\n"
        "commands.Bench._undisturbed = lambda *_: commands.Whole(0.1, False, {}, set(), True)\n"
        f"runpy.run_path({str(ROOT / 'scripts' / 'fuzz.py')!r}, run_name='__main__')\n"
    )
    words = ["--output", tmp_path / "out", "--most", "8", "--minutes", "5", "--only", "data split"]
    done = forks.run("python-script", broken, "commands", *words)
    assert done.returncode == 1, done.stderr[-2000:]
    assert "traceback: KeyError in " in done.stdout
    kept = sorted((tmp_path / "out").rglob("case.json"))
    assert "KeyError: 'oops'" in kept[0].with_name("why.txt").read_text()
    done = forks.run("python-script", broken, "commands", "--repeat", kept[0])
    assert done.returncode == 1
    assert "KeyError: 'oops'" in done.stdout
