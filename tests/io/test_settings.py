"""What the fields of settings may be."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import check, check_kind, names_and_values, option, read_yaml


@dataclass
class Settings:
    share: float = option("a share", 0.5, low=0, high=1)
    least: int = option("a number", 0, low=0)
    kind: str = option("a kind", "a", choices=("a", "b"))
    sizes: list[int] = option("numbers", [1, 2], high=0x10)
    anything: float | None = option("not needed", None)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"share": -0.1}, "--share is -0.1: give a number from 0 to 1"),
        ({"share": float("nan")}, "--share is nan: give a finite number"),
        ({"least": -1}, "--least is -1: give a number from 0"),
        (
            {"least": 2**63},
            "--least is 9223372036854775808: give a number from -9223372036854775807 to 9223372036854775807",
        ),
        ({"least": 10**400}, f"--least is {10**400}: give a number from -9223372036854775807 to 9223372036854775807"),
        ({"kind": "c"}, "--kind is one of a, b, not 'c'"),
        ({"sizes": [1, 17]}, "--sizes is 17: give a number to 16"),
        ({"least": 10**400}, f"--least is {10**400}: give a number from {1 - 2**63} to {2**63 - 1}"),
        ({"anything": float("inf")}, "--anything is inf: give a finite number"),
    ],
)
def test_what_is_out_of_bounds_is_refused(values: dict[str, object], sentence: str) -> None:
    check(Settings())
    with pytest.raises(InputError) as error:
        check(Settings(**values))
    assert str(error.value) == sentence
    with pytest.raises(InputError, match=r"^align\."):
        check(Settings(**values), prefix="align.")


def yaml_of(tmp_path, text):
    path = tmp_path / "file.yaml"
    path.write_text(text)
    return read_yaml(path)


@pytest.mark.parametrize(
    ("kind", "fitting", "others", "said"),
    [
        (float, (1, 1.5), (True, "1"), "a number"),
        (int, (1,), (1.5, False), "a whole number"),
        (bool, (True,), (1,), "true or false"),
        (Path, ("a", Path("a")), (1,), "a path"),
        (dict, ({},), ([],), "a mapping"),
    ],
)
def test_the_kind_of_a_value(kind: type, fitting: tuple, others: tuple, said: str) -> None:
    for value in fitting:
        check_kind("x", value, kind)
    for value in others:
        with pytest.raises(InputError, match=rf"^x is {re.escape(repr(value))}: give {said}$"):
            check_kind("x", value, kind)


def test_yaml_as_people_write_it(tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_FOLDER", "/some/${folder}")
    text = """
    # as in the recipes' files
    shared: &shared {lr: 1e-3, scale: -2.5E+4, epochs: 3}
    one: {<<: *shared, epochs: 4, flag: yes, nothing: , when: 2020-01-01}
    words: ["${oc.env:SOME_FOLDER}/x", 1e, '1e-3', 0x10]
    """
    assert yaml_of(tmp_path, text) == {
        "shared": {"lr": 0.001, "scale": -25000.0, "epochs": 3},
        "one": {"lr": 0.001, "scale": -25000.0, "epochs": 4, "flag": True, "nothing": None, "when": "2020-01-01"},
        "words": ["/some/${folder}/x", "1e", "1e-3", 16],
    }
    assert yaml_of(tmp_path, "") is None
    assert yaml_of(tmp_path, "5") == 5


BOMB = "\n".join(["a0: &a0 [x, x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 40))])
MERGES = "\n".join(
    ["a0: &a0 {x: 1}", *(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 40))]
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BOMB, "more than 20000 values, aliases counted in full"),
        (MERGES, "more than 20000 values, aliases counted in full"),
        ("a: &a [*a]", "an alias stands for a value that holds it"),
        ("[" * 100_000, "nested too deeply"),
        ("a: " + "x" * 200_000, "more than 131072 bytes"),
        ("a: 1\na: 2", "the key 'a' is there twice"),
        ("a: 1\n---\nb: 2", "expected a single document"),
        ("a: 0x" + "f" * 5000, "a whole number has more than 64 bits"),
        ("a: " + "9" * 5000, "Exceeds the limit"),
        ("a: !!binary aGk=", "tag:yaml.org,2002:binary is neither text nor a number"),
        ("a: !!timestamp 2020-01-01", "timestamp is neither text nor a number"),
        ("a: !!python/object/apply:os.mkdir [b]", r"python/object/apply:os\.mkdir is neither"),
        ("a: ${b}\nb: ${c}${c}", r"'\$\{b\}' asks for more than \$\{oc.env:NAME\}"),
        ("a: ${oc.env:NOT_SET}", "the environment variable NOT_SET is not set"),
        ("a: \x00", "cannot be read"),
        ("a: [", "cannot be read"),
        ("? [a]\n: b", "found unhashable key"),
    ],
)
def test_yaml_that_is_refused_quickly(tmp_path, text, said):
    start = time.process_time()
    with pytest.raises(InputError, match=said) as caught:
        yaml_of(tmp_path, text)
    assert time.process_time() - start < 5
    assert str(caught.value).startswith(f"{tmp_path / 'file.yaml'} cannot be read: ")
    assert len(str(caught.value)) < 1600


@dataclass
class Words:
    words: list[str] = option("words", [])
    file: Path | None = option("a file", None)


def test_words_are_text_and_names_of_files_may_be_any_bytes():
    check(Words(["ü"], Path("\udcff")))
    with pytest.raises(InputError, match=r"--words is '\\udcff', whose bytes are no UTF-8: give it in UTF-8"):
        check(Words(["a", "\udcff"]))


@dataclass
class TwoFiles:
    output: tuple[Path, Path] = option("files to write")


def test_one_file_for_two_sides(tmp_path):
    check(TwoFiles((tmp_path / "a", tmp_path / "b")))
    (tmp_path / "link").symlink_to(tmp_path / "a")
    for other in (tmp_path / "a", tmp_path / "x" / ".." / "a", tmp_path / "link"):
        with pytest.raises(InputError, match=r"--output names .*/a twice: give each side a file of its own"):
            check(TwoFiles((tmp_path / "a", other)))
    (tmp_path / "loop").symlink_to("loop")
    check(TwoFiles((tmp_path / "a", tmp_path / "loop")))  # whoever writes there is told


def test_names_and_values_of_an_option():
    assert names_and_values(["a=1", "b=c=d"], "--set") == {"a": "1", "b": "c=d"}
    for word in ("a", "=1", "a="):
        with pytest.raises(InputError, match=f"--set '{word}': write NAME=VALUE"):
            names_and_values([word], "--set")
    with pytest.raises(InputError, match="--set gives a twice, '1' and '2': give it once"):
        names_and_values(["a=1", "b=2", "a=2"], "--set")
