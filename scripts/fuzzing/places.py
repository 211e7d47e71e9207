"""Files and folders that are not what a command expects, canaries, and what is left of all afterwards."""

from __future__ import annotations

import hashlib
import os
import random
import re
import shutil
import stat
from glob import glob
from pathlib import Path

import spoiling

INPUT_FILES = [
    *(
        "missing",
        "empty",
        "a folder",
        "bytes",
        "spoilt",
        "spoilt",
        "spoilt",
        "a long line",
        "a link",
        "a dangling link",
    ),
    *(
        "a dangling link",
        "a loop of links",
        "a pipe",
        "unreadable",
        "another file",
        "CRLF",
        "Latin-1",
        "BOM",
        "NUL",
        "no last newline",
    ),
    *("cut in half", "one line", "blank lines", "twice as long"),
]
INPUT_FOLDERS = [
    *("missing", "an empty folder", "a file", "a link", "unreadable", "lacks a file", "lacks a file"),
    *("a file is spoilt", "a file is spoilt", "a file is spoilt", "another folder"),
]
OUTPUTS = [
    *("there", "there", "a link", "a dangling link", "a loop of links", "a folder", "a folder of the user's"),
    *("a folder that is locked", "a pipe", "unwritable"),
]
NAMES = [
    *("input", "stdout", "full", "null", "under a file", "deep", "nothing", "here", "above", "system", "long", "odd"),
    "dash",
]
"""Other names for an output, which the words have instead."""
CANARY = b"The user's own.\n"


def canaries(folder: Path) -> None:
    """One in each folder."""
    for root, _, _ in os.walk(folder):
        Path(root, "canary").write_bytes(CANARY)


def arrange(here: Path, path: str, state: str, seed: str) -> str | None:
    """Make a file or folder into what it should not be.

    Returns:
        "read" or "write", where somebody must do so at the other end of a pipe.
    """
    place, chance = here / path, random.Random(f"{seed} {path}")
    if len(os.fsencode(place.name)) > 255:
        return None  # no file can have that name
    if not place.exists() and path.startswith("in/"):
        return None  # somebody else has been here
    if state in INPUT_FOLDERS and place.is_dir():
        _folder(here, place, state, chance)
    elif path.startswith("in/"):
        return _input(here, place, state, chance)
    else:
        return _output(here, place, state)
    return None


def _input(here: Path, place: Path, state: str, chance: random.Random) -> str | None:
    if place.is_dir():
        return None
    content = place.read_bytes()
    aside = place.with_name(f"aside.{place.name}")
    changed = {
        "empty": b"",
        "bytes": chance.randbytes(2000),
        "spoilt": spoiling.spoil(content, chance),
        "a long line": b"word " * 200_000,
        "CRLF": content.replace(b"\n", b"\r\n"),
        "Latin-1": content.replace(b"e", b"\xe9", 3),
        "BOM": b"\xef\xbb\xbf" + content,
        "NUL": content.replace(b"e", b"\x00", 3),
        "no last newline": content[:-1],
        "cut in half": content[: len(content) // 2],
        "one line": content.split(b"\n")[0] + b"\n",
        "blank lines": b"\n \n\t\n" + content,
        "twice as long": content * 2,
    }
    if state in changed:
        place.write_bytes(changed[state])
        return None
    if state == "unreadable":
        place.chmod(0)
        return None
    if state == "another file":
        others = sorted(each for each in here.glob("in/**/*") if each.is_file())
        place.write_bytes(chance.choice(others).read_bytes())
        return None
    place.replace(aside)
    if state == "a folder":
        place.mkdir()
    elif state == "a link":
        place.symlink_to(aside)
    elif state == "a dangling link":
        place.symlink_to("missing")
    elif state == "a loop of links":
        place.symlink_to(place.name)
    elif state == "a pipe":
        os.mkfifo(place)
        return "write"
    return None


def _folder(here: Path, place: Path, state: str, chance: random.Random) -> None:
    files = sorted(each for each in place.rglob("*") if each.is_file() and each.name != "canary")
    aside = place.with_name(f"aside.{place.name}")
    if state == "lacks a file":
        if files:
            chance.choice(files).unlink()
        return
    if state == "a file is spoilt":
        if files:
            file = chance.choice(files)
            file.write_bytes(spoiling.spoil(file.read_bytes(), chance))
        return
    if state == "unreadable":
        place.chmod(0)
        return
    place.replace(aside)
    if state == "an empty folder":
        place.mkdir()
    elif state == "a file":
        place.write_bytes(CANARY)
    elif state == "a link":
        place.symlink_to(aside.name)
    elif state == "another folder":
        others = sorted(
            each for each in here.glob("in/*") if each.is_dir() and each != aside and each not in place.parents
        )
        if others:
            shutil.copytree(chance.choice(others), place)


def _output(here: Path, place: Path, state: str) -> str | None:
    if place.exists() or place.is_symlink():
        return None
    place.parent.mkdir(parents=True, exist_ok=True)
    target = here / "elsewhere" / place.name
    if state == "there":
        place.write_bytes(CANARY)
        place.chmod(0o600)
    elif state == "a link":
        target.write_bytes(CANARY)
        place.symlink_to(target)
    elif state == "a dangling link":
        place.symlink_to(target)
    elif state == "a loop of links":
        place.symlink_to(place.name)
    elif state == "a folder":
        place.mkdir()
    elif state == "a folder of the user's":
        place.mkdir()
        (place / "canary").write_bytes(CANARY)
    elif state == "a folder that is locked":
        place.mkdir()
        place.chmod(0o555)
    elif state == "unwritable":
        place.parent.chmod(0o555)
    elif state == "a pipe":
        os.mkfifo(place)
        return "read"
    return None


_VARYING = re.compile(rb'("\w*seconds\w*": )[\d.e+-]+|("commit": )(?:null|"[^"]*")')
"""What a command says in a JSON file of its own speed, and of the code's state, which changes while you mend it."""
DEVICES = ("/dev/null", "/dev/full", "/dev/stdout", "/dev/stderr")
"""What a command that takes them for files makes useless to everybody, where it may."""

Tree = dict[str, tuple[str, int, str]]
"""Path -> what kind it is, its mode, and the hash of its content or where it leads."""


def tree(folder: Path) -> Tree:
    """Everything in a folder, whatever its permissions, and the devices."""
    found: Tree = {}
    for path in DEVICES:
        if os.path.lexists(path):
            about = os.lstat(path)
            found[path] = ("device", about.st_mode, str(about.st_rdev))
    found |= {path: ("file", 0, "") for path in glob("/dev/*.*")}
    for root, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            path = os.path.join(root, name)
            about = os.lstat(path)
            kind, content = "other", ""
            if stat.S_ISLNK(about.st_mode):
                kind, content = "link", os.readlink(path)
            elif stat.S_ISDIR(about.st_mode):
                kind = "folder"
            elif stat.S_ISREG(about.st_mode):
                kind = "file"
                try:
                    with open(path, "rb") as stream:
                        content = hashlib.sha256(_VARYING.sub(rb"\1\2", stream.read())).hexdigest()
                except PermissionError:
                    content = f"{about.st_size} bytes of {about.st_mtime_ns}"
            elif stat.S_ISFIFO(about.st_mode):
                kind = "pipe"
            found[os.path.relpath(path, folder)] = (kind, stat.S_IMODE(about.st_mode), content)
    return found
