"""What a command may not do, whatever it is given."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from fairseq_xl.io.atomic import HIDDEN
from fuzzing.carry import Outcome
from fuzzing.draw import Case
from fuzzing.places import DEVICES, Tree

TRACEBACK = "Traceback (most recent call last)"
_FRAME = re.compile(r'File ".*?/(fairseq_xl/[^"]+|site-packages/[^"]+|[^/"]+)", line \d+, in (\S+)')
_ERROR = re.compile(r"^(?:[\w-]+: |usage: .*)?error: ", re.MULTILINE)
_LOCK = re.compile(r"\..+\.lock")
_FARES = {"vectors coverage": 1, "experiment run": 1}
"""Commands whose status 1 says something about what they looked at."""
_KEEPS = ("data fetch", "embed prepare", "embed tag", "translate tune", "match search", "experiment run", "corpus")
"""Commands that go on from what an earlier call left, whatever ended it."""
LONG = 2500
"""Characters of a sentence."""


@dataclass(frozen=True)
class Fault:
    """Attributes:
    family: faults of one family have one cause, as far as can be told.
    why: what happened, in words.
    """

    family: str
    why: str


@dataclass(frozen=True)
class Whole:
    """What an undisturbed run of a line does.

    Attributes:
        seconds: how long it takes.
        prints: whether it writes to standard output.
        files: what it leaves that is the same each time: path -> hash.
        names: everything that it leaves.
        compared: with a second run, without which ``files`` may be another each time.
    """

    seconds: float
    prints: bool
    files: dict[str, str]
    names: set[str]
    compared: bool = False


def judge(case: Case, done: Outcome, whole: Whole | None) -> list[Fault]:
    """Every fault of an outcome."""
    if done.status is None:
        return [Fault(f"hang in {_frames(done.err)}", f"took over {done.seconds:.0f} s\n{done.err[-3000:]}")]
    return [*_said(case, done, whole), *_lost(case, done), *_left(case, done, whole)]


def _frames(text: str) -> str:
    """The innermost of our functions that a stack names, else the innermost of all."""
    frames = _FRAME.findall(text)
    ours = [frame for frame in frames if frame[0].startswith("fairseq_xl/")]
    file, function = (ours or frames or [("somewhere", "")])[-1]
    return f"{file} {function}".strip()


def _said(case: Case, done: Outcome, whole: Whole | None) -> list[Fault]:
    """Of what was said, and the status."""
    found = []
    text, status = done.err + done.out, done.status or 0
    if TRACEBACK in text:
        last = text.rsplit(TRACEBACK, 1)[1]
        kind = re.findall(r"^(\w[\w.]*)(?::|$)", last, re.MULTILINE)
        family = f"traceback: {kind[0] if kind else '?'} in {_frames(last)}"
        return [Fault(family, text[-4000:])]
    if "Exception ignored" in text or "Fatal Python error" in text:
        found.append(Fault(f"Python's own message: {text.split('Exception ignored')[-1][:60]!r}", text[-3000:]))
    heard = case.streams.get("stderr") is None
    mistakes = _ERROR.findall(done.err)
    expected = {0, 2, _FARES.get(case.name, 0)}
    if {"gone", "short"} & set(case.streams.values()):
        expected.add(141)
    if done.was_killed:
        expected |= {"INT": {130, -2}, "TERM": {-15, 143}, "KILL": {-9}}[case.signal or "KILL"]
    if status not in expected:
        found.append(Fault(f"status {status} of {case.name}", f"status {status}\n{text[-3000:]}"))
    elif status == 2 and heard and not mistakes and not done.err.startswith("usage: "):
        found.append(Fault(f"status 2 without a sentence: {case.name}", done.err[-3000:]))
    elif status == 0 and mistakes and not done.was_killed:
        found.append(Fault(f"status 0 after an error: {case.name}", done.err[-3000:]))
    if len(mistakes) > 1:
        found.append(Fault(f"several sentences: {case.name}", done.err[-3000:]))
    if max((len(line) for line in done.err.splitlines() if line.startswith("error: ")), default=0) > LONG:
        found.append(Fault(f"a long sentence: {case.name}", done.err[-5000:]))
    lost = case.streams.get("stdout") in ("full", "unwritable", "closed") and len(case.wrong) == 1
    if status == 0 and lost and whole is not None and whole.prints:
        found.append(Fault(f"output lost, status 0: {case.name} to stdout {case.streams['stdout']}", done.err[-500:]))
    return found


def _outputs(case: Case, tree: Tree) -> tuple[set[str], list[str]]:
    """Where output goes, as paths of the case's folder, links followed; and those paths' beginnings."""
    exact = set()
    for given in case.outputs:
        path = posixpath.normpath(PurePosixPath("here") / given)
        while path not in exact:
            exact.add(path)
            path = _without_link(path, tree)
    beginnings = [f"{path}/" for path in exact]
    if "." in exact:  # everything is in it
        beginnings.append("")
    for each in map(PurePosixPath, exact - set(DEVICES)):
        # vectors.npy has its words in vectors.vocab, and x of a download its beginning in .x.part.
        beginnings += [f"{each}.", f"{each.with_suffix('')}.", f"{each.parent}/.{each.name}."] if each.name else []
    return exact, beginnings


def _without_link(path: str, tree: Tree) -> str:
    """A path without the first link in it, if there is one."""
    whole = PurePosixPath(path)
    for part in [*reversed(whole.parents), whole]:
        kind, _, leads_to = tree.get(str(part), ("", 0, ""))
        if kind == "link":
            target = posixpath.normpath(part.parent / leads_to)
            target = f"here/{target.rpartition('/here/')[2]}" if target.startswith("/") else target
            return posixpath.normpath(PurePosixPath(target) / whole.relative_to(part))
    return path


def _is_within(path: str, beginnings: list[str]) -> bool:
    return not path.startswith("/") and path.startswith(tuple(beginnings))  # devices are in no folder of the case's


def _lost(case: Case, done: Outcome) -> list[Fault]:
    """Of what was there before."""
    exact, beginnings = _outputs(case, done.before)
    found = []
    ours = [f"{path}/" for path in exact if path.startswith("here/in/")]
    for path, (kind, mode, content) in done.before.items():
        now = done.after.get(path)
        if now == (kind, mode, content):
            continue
        output = path in exact or (PurePosixPath(path).name != "canary" and _is_within(path, beginnings))
        ended_well = done.status in (0, 1, 141) or done.was_killed or _is_unheard(case)
        inside = any(path.startswith(folder) and not path.endswith("canary") for folder in ours)
        if inside or (path.startswith("here/tmp/") and not path.endswith("canary")):
            continue
        if now is None:
            what = "is gone"
        elif now[0] != kind:
            what = f"was a {kind} and is a {now[0]}"
        elif now[1] != mode:
            what = f"had mode {mode:o} and has {now[1]:o}"
        elif output and ended_well and kind == "file":
            continue
        else:
            what = "has changed"
        role = (
            "a device"
            if kind == "device"
            else "an output"
            if output
            else "a canary"
            if path.endswith("canary")
            else "an input"
        )
        found.append(Fault(f"lost: {role} {what}, {case.name}", f"{path} {what}; status {done.status}\n{done.err}"))
    return found


def _is_unheard(case: Case) -> bool:
    """Whether status 2 may be of what could not be said at the end, which is no reason to undo what was done."""
    return bool({"stdout", "stderr"} & set(case.streams))


def _is_remainder(path: str) -> bool:
    """Whether a path is, or is in, what nobody but its writer should see: what is not complete yet, and locks."""
    return any(HIDDEN.fullmatch(part) or _LOCK.fullmatch(part) for part in PurePosixPath(path).parts)


def _left(case: Case, done: Outcome, whole: Whole | None) -> list[Fault]:
    """Of what is new."""
    exact, beginnings = _outputs(case, done.before)
    found = []
    new = {path: about for path, about in done.after.items() if path not in done.before}
    for path, (kind, _, content) in new.items():
        if path.startswith(("here/home/", "here/tmp/matplotlib", "here/tmp/fontlist", "here/tmp/torchinductor")):
            continue
        if _is_remainder(path) or path.startswith("here/tmp/"):
            if not done.was_killed:
                found.append(Fault(f"left behind, {case.name}", f"{path} was left behind; status {done.status}"))
        elif path in exact or _is_within(path, beginnings):
            if kind != "file" or (done.status != 2 and not done.was_killed) or whole is None:
                continue
            if case.name.startswith(_KEEPS) or _is_unheard(case):
                continue
            if any(path.startswith(f"{one}/") for one in exact):
                continue  # a folder is whole when its manifest is there
            known = whole.files.get(path)
            if done.was_killed and known is not None and known != content:
                found.append(Fault(f"half an output, {case.name}", f"{path} is not what it is to be"))
            # Of several outputs, one may be whole where another cannot be written.
            elif not done.was_killed and known != content and len(case.outputs) == 1 and path in exact:
                found.append(Fault(f"an output in spite of the error, {case.name}", f"{path}\n{done.err[-2000:]}"))
        elif not any(one.startswith(f"{path}/") for one in exact):
            found.append(Fault(f"stray, {case.name}", f"{path} is new; status {done.status}"))
    return found


def judge_again(case: Case, again: Outcome, whole: Whole) -> list[Fault]:
    """A command that was killed and is started again ends as if nothing had happened, or with one sentence."""
    if again.status == 2 and len(_ERROR.findall(again.err)) == 1:
        return []
    if again.status != 0:
        return [Fault(f"not started again, {case.name}", f"status {again.status}\n{again.err[-3000:]}")]
    names = {path for path in again.after if path not in again.before or path in whole.names}
    if lacking := whole.names - set(again.after):
        return [Fault(f"lacking after a kill, {case.name}", f"{sorted(lacking)}\n{again.err[-2000:]}")]
    if hidden := [path for path in set(again.after) - whole.names if path.startswith("here/out/") and "/." in path]:
        return [Fault(f"left behind after a kill, {case.name}", f"{hidden}")]
    other = [
        path
        for path in names
        # What a recipe says goes on from where it was killed.
        if path in whole.files and again.after[path][2] != whole.files[path] and "/runs/" not in path
    ]
    if other:
        return [Fault(f"another result after a kill, {case.name}", f"{sorted(other)}\n{again.err[-2000:]}")]
    return []
