"""The command table: quick to start, one sentence for a mistake, quiet when interrupted."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fairseq_xl import __version__
from fairseq_xl.cli import main as cli
from fairseq_xl.cli.parsing import Table, load
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import GREATEST_SEED, option

ROOT = Path(__file__).resolve().parents[2]


def command_that(monkeypatch: pytest.MonkeyPatch, run) -> None:
    """Make ``fairseq-xl trial`` call ``run`` with the command."""

    @dataclass
    class Trial:
        """Try something."""

        n: int = option("a number", 0)

        def run(self) -> int | None:
            return run(self)

    monkeypatch.setitem(sys.modules, "trial_module", SimpleNamespace(Trial=Trial))
    monkeypatch.setitem(cli.COMMANDS, "trial", ("trial_module:Trial", "a trial"))


def raising(error: BaseException):
    def run(command: Any) -> None:
        raise error

    return run


def every_command(name: str, table: Table) -> Iterator[tuple[str, Any]]:
    """The names of all commands and groups, and their classes or tables."""
    for word, (place, text) in table.items():
        assert text
        found = load(place)
        yield f"{name} {word}".strip(), found
        if isinstance(found, Mapping):
            yield from every_command(f"{name} {word}".strip(), found)


ALL = dict(every_command("", cli.COMMANDS))


def test_help_is_quick_and_names_every_command(run_cli) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run_cli("--help")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0
    assert all(name in done.stdout for name in cli.COMMANDS)
    # Of the processor, not of the clock, which runs on while other tests have their turn.
    assert after.ru_utime - before.ru_utime < 1.0


def test_help_imports_nothing_heavy(cli_code: str) -> None:
    code = cli_code.replace("sys.exit(main())", "main(['user-dir'])")
    code += "; heavy = {'torch', 'fairseq', 'numpy', 'scipy'} & set(sys.modules); sys.exit(bool(heavy))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_version(run_cli) -> None:
    assert run_cli("--version").stdout == f"fairseq_xl {__version__}\n"
    assert (
        cli.group_parser("fairseq-xl", cli.COMMANDS).format_usage() == "usage: fairseq-xl [-h] [--version] COMMAND …\n"
    )


def test_user_dir_is_the_folder_of_the_package(run_cli) -> None:
    assert Path(run_cli("user-dir").stdout.strip()) == ROOT / "fairseq_xl"


@pytest.mark.parametrize("name", sorted(ALL))
def test_every_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main([*name.split(), "--help"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: fairseq-xl {name}")


SEEDS = {
    f"{name}: {each.name}": each
    for name, found in ALL.items()
    if not isinstance(found, Mapping)
    for each in fields(found)
    if each.name.endswith("seed")
}


def test_commands_that_load_a_model_take_the_code_of_its_own() -> None:
    """Those that run one have ``device``, and those of ``corpus`` an encoder. The others make something of one."""
    options = {name: {each.name for each in fields(found)} for name, found in ALL.items() if is_dataclass(found)}
    loading = {"embed export", "embed map", "embed pack", "embed random", "translate export", "translate pack"}
    loading |= {"corpus negatives", "corpus paraphrases", "corpus run"}
    loading |= {name for name, known in options.items() if "device" in known}
    assert {name for name, known in options.items() if "user_dir" in known} == loading


@pytest.mark.parametrize("name", SEEDS)
def test_a_seed_is_what_every_generator_takes(name: str) -> None:
    """NumPy's and scikit-learn's refuse others by a ValueError of their own."""
    assert SEEDS[name].metadata["low"] == 0
    assert SEEDS[name].metadata["high"] <= GREATEST_SEED


def test_an_unknown_command_gets_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["vector", "train"]) == 2
    assert capsys.readouterr().err == ("error: fairseq-xl has no command 'vector'; did you mean 'vectors'?\n")


def test_no_command_prints_the_help_and_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "commands:" in printed.err


def test_arguments_reach_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    command_that(monkeypatch, lambda command: command.n)
    assert cli.main(["trial", "--n", "3"]) == 3


def test_a_command_that_returns_nothing_has_succeeded(monkeypatch: pytest.MonkeyPatch) -> None:
    command_that(monkeypatch, lambda command: None)
    assert cli.main(["trial"]) == 0


@pytest.mark.parametrize(
    ("error", "status", "sentence"),
    [
        (InputError("a.vec does not exist"), 2, "error: a.vec does not exist\n"),
        (KeyboardInterrupt(), 130, ""),
        (
            ModuleNotFoundError("No module named 'stanza.x'", name="stanza.x"),
            2,
            "error: the Python package 'stanza' is not installed; `fairseq-xl doctor` says how to get it\n",
        ),
        (IsADirectoryError(errno.EISDIR, "Is a directory", "out"), 2, "error: out: Is a directory\n"),
        (OSError(errno.ENOSPC, "No space left on device"), 2, "error: No space left on device\n"),
        (
            OSError(errno.ENAMETOOLONG, "File name too long", "x" * 5000),
            2,
            f"error: {'x' * 750} […] {'x' * 730}: File name too long\n",
        ),
        (
            FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/x']"),
            2,
            "error: no folder for temporary files can be written to: make room in /tmp, or name one in TMPDIR\n",
        ),
        (OSError(errno.EIO, "Input/output error"), 2, "error: Input/output error\n"),
        (
            OSError(errno.EMFILE, "Too many open files"),
            2,
            "error: too many files are open: ask for fewer processes, or raise the limit (ulimit -n)\n",
        ),
        (
            MemoryError("cannot allocate 8 TiB"),
            2,
            "error: there is not enough memory (cannot allocate 8 TiB): ask for less\n",
        ),
        (MemoryError(), 2, "error: there is not enough memory (out of memory): ask for less\n"),
        (
            RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes. Error code 12"),
            2,
            "error: there is not enough memory (tried to allocate 8 bytes): ask for less\n",
        ),
    ],
    ids=[
        "mistake",
        "interrupt",
        "missing extra",
        "folder for file",
        "full disk",
        "long name",
        "no room for temporary files",
        "broken disk",
        "too many files",
        "memory",
        "memory without a word",
        "torch's memory",
    ],
)
def test_how_a_command_ends(error, status, sentence, monkeypatch, capsys) -> None:
    command_that(monkeypatch, raising(error))
    assert cli.main(["trial"]) == status
    assert capsys.readouterr().err == sentence


def test_an_interrupt_that_leads_to_another_error_is_one(monkeypatch, capsys) -> None:
    def run(_) -> None:
        try:
            raise KeyboardInterrupt
        finally:
            raise RuntimeError("unexpected pos 18944 vs 18896")  # torch's, of half a file

    command_that(monkeypatch, run)
    assert cli.main(["trial"]) == 130
    assert capsys.readouterr().err == ""


class Interrupted:
    def __del__(self) -> None:
        raise KeyboardInterrupt


def test_no_interrupt_is_lost(monkeypatch, capsys) -> None:
    def run(_) -> None:
        Interrupted()
        time.sleep(60)

    command_that(monkeypatch, run)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    cli.heed_interrupts()
    began = time.monotonic()
    assert cli.main(["trial"]) == 130
    assert time.monotonic() - began < 30
    assert capsys.readouterr().err == ""


def test_a_working_folder_that_is_gone(tmp_path: Path, monkeypatch, capsys) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    began = []
    command_that(monkeypatch, began.append)
    assert cli.main(["trial"]) == 2
    assert capsys.readouterr().err == "error: the folder that this was started in is gone: change to another one\n"
    assert began == []
    with pytest.raises(SystemExit) as ended:
        cli.main(["trial", "--help"])
    assert ended.value.code == 0


def test_a_working_folder_that_goes_while_a_command_runs(tmp_path: Path, monkeypatch, capsys) -> None:
    def run(_) -> None:
        (tmp_path / "gone").rmdir()
        Path("a").resolve()

    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    command_that(monkeypatch, run)
    assert cli.main(["trial"]) == 2
    assert capsys.readouterr().err == "error: the folder that this was started in is gone: change to another one\n"


@pytest.mark.parametrize(
    "error", [RuntimeError("ours"), ModuleNotFoundError("x", name="fairseq_xl.gone"), OSError("nothing of a file")]
)
def test_a_defect_of_ours_is_not_hidden(error, monkeypatch) -> None:
    command_that(monkeypatch, raising(error))
    with pytest.raises(type(error)):
        cli.main(["trial"])


def test_a_reader_that_goes_away_is_no_error(cli_code: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = subprocess.Popen(
        [sys.executable, "-c", cli_code, "user-dir"], cwd=ROOT, stdout=writing, stderr=subprocess.PIPE, text=True
    )
    os.close(writing)
    errors = process.communicate(timeout=900)[1]
    assert process.returncode == 141
    assert errors == ""


@pytest.mark.parametrize("command", [("train", "-c", "x.yaml"), ("predict", "-m", "x", "-s", "x", "-o", "x.en")])
def test_another_version_of_eole_is_a_sentence(command, tmp_path: Path, monkeypatch, run_cli) -> None:
    """By the commands, which need no eole for it; one that is installed comes after this folder."""
    (tmp_path / "eole").mkdir()
    (tmp_path / "eole" / "__init__.py").touch()
    (tmp_path / "eole-0.7.0.dist-info").mkdir()
    (tmp_path / "eole-0.7.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: eole\nVersion: 0.7.0\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    done = run_cli("eole", *command)
    assert done.returncode == 2
    assert done.stderr == "error: eole 0.7.0 is installed, and this extends eole>=0.6.4,<0.7: install one of those\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["eole", "eole-0.7.0.dist-info"]


@pytest.mark.parametrize("link", [False, True])
def test_no_file_is_written_over_what_is_read(tmp_path, capsys, link):
    vectors = tmp_path / "w.vec"
    vectors.write_text("a 1 0\nb 0 1\n")
    output = tmp_path / "link.vec" if link else vectors
    if link:
        output.symlink_to(vectors)
    assert cli.main(["vectors", "convert", str(vectors), "--output", str(output), "--center"]) == 2
    said = capsys.readouterr().err
    assert f"--output {output} is read, too" in said
    assert "name another file" in said
    assert vectors.read_text() == "a 1 0\nb 0 1\n"
    assert cli.main(["vectors", "convert", str(vectors), "--output", str(tmp_path / "new.vec")]) == 0
    assert cli.main(["vectors", "convert", str(vectors), "--output", str(tmp_path / "new.vec")]) == 0, (
        "it may be replaced"
    )


def test_no_file_of_several_is_written_over_one_that_is_read(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for language in ("de", "en"):
        (tmp_path / f"a.{language}").write_text("ein Satz\n")
    assert cli.main(["data", "clean", "a.de", "a.en", "-o", "b.de", "a.en"]) == 2
    assert "error: --output a.en is read, too" in capsys.readouterr().err
    assert not (tmp_path / "b.de").exists()


def test_a_file_that_a_prefix_stands_for_is_not_written_over_one_that_is_read(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.vec").write_text("one word\n")
    assert cli.main(["vectors", "train", "a.vec", "-o", "a"]) == 2
    assert "--output a.vec is read, too (texts)" in capsys.readouterr().err
    assert (tmp_path / "a.vec").read_text() == "one word\n"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["data", "clean", "a", "b", "-o", "c", "d", "--report", "a"], "--report a is read, too (source)"),
        (["data", "clean", "a", "b", "-o", "c", "d", "--report", "d"], "--report d is written twice (as --output d"),
        (["embed", "tag", "a", "-o", "b", "-t", "b", "-l", "de"], "--output b is read, too (tagger)"),
    ],
    ids=str,
)
def test_nothing_else_that_is_written_is_read_or_written_twice(tmp_path, monkeypatch, capsys, command, said):
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        (tmp_path / name).write_text("one\tword\n")
    assert cli.main(command) == 2
    assert said in capsys.readouterr().err
    assert sorted((path.name, path.read_text()) for path in tmp_path.iterdir()) == [
        ("a", "one\tword\n"),
        ("b", "one\tword\n"),
    ]


@pytest.mark.parametrize(
    "command",
    [
        ["match", "words", "a.txt,1", "-o", "a.txt"],
        ["match", "transfer-labels", "--sentences", "b.txt", "a.txt", "-o", "a.txt"],
        ["match", "predict", "model.pt", "--input", "a.txt,left=2", "-o", "a.txt"],
        ["vectors", "join", "en=b.txt", "es=a.txt", "-o", "a.txt"],
    ],
    ids=" ".join,
)
def test_no_source_is_written_over(tmp_path, monkeypatch, capsys, command):
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text("one\tword\n")
    assert cli.main(command) == 2
    assert "error: --output a.txt is read, too" in capsys.readouterr().err
    assert (tmp_path / "a.txt").read_text() == "one\tword\n"
