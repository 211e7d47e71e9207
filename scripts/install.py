"""Installs fairseq_xl into one environment: what ``scripts/setup.sh`` runs, with the standard library alone.

fairseq's source asks for torch while it is built and for torchaudio when it is installed. Left alone, an installer
downloads a second torch (gigabytes) into a build environment, compiles for minutes, and may replace the user's torch.
Here torch comes first and is pinned, fairseq is then built against it without its compiled parts (``compat.py`` has
the one that text needs), and torchaudio, which text never imports, is left out.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "scripts" / "constraints.txt"
OVERRIDES = ROOT / "scripts" / "overrides.txt"
OLDEST_TORCH = (2, 6)
TESTED_TORCH = "2.13.0"
FAIRSEQ = "fairseq-fixed==0.12.3.1"
FASTTEXT = "fasttext-numpy2"
STAMP = "fairseq_xl-setup.json"
UNFINISHED = "fairseq_xl-setup-unfinished"

# Run by the environment's own interpreter: which distributions are there, and which of them lost files.
PROBE = """
import csv, json, os, platform, sys, sysconfig
from email.parser import HeaderParser
found, broken, copied = {}, set(), False
site = sysconfig.get_path("purelib")
for folder in dict.fromkeys([site, sysconfig.get_path("platlib")]):
    for info in sorted(os.listdir(folder)):
        if not info.endswith(".dist-info"):
            continue
        name = info.removesuffix(".dist-info").rpartition("-")[0].lower().replace("_", "-").replace(".", "-")
        try:
            with open(os.path.join(folder, info, "METADATA"), encoding="utf-8") as file:
                found[name] = HeaderParser().parse(file)["Version"]
            with open(os.path.join(folder, info, "RECORD"), encoding="utf-8", newline="") as file:
                files = [row[0] for row in csv.reader(file) if row and not row[0].endswith(".pyc")]
        except FileNotFoundError:
            if os.path.exists(os.path.join(folder, info, "INSTALLER")) or name not in found:
                broken.add(name)  # an installer that stopped half-way; without INSTALLER: not pip's or uv's work
            continue
        if not all(os.path.lexists(os.path.join(folder, path)) for path in files):
            broken.add(name)
        if name == "fairseq-xl":
            origin = os.path.join(folder, info, "direct_url.json")
            about = json.load(open(origin)) if os.path.exists(origin) else {}
            copied = not about.get("dir_info", {}).get("editable")
print(json.dumps({"version": platform.python_version(), "prefix": sys.prefix, "site": site,
                  "found": found, "broken": sorted(broken),
                  "copied": copied, "pip": "pip" in found}))
"""

# Run by the environment's own interpreter (the route without uv): what our package and fairseq ask for.
REQUIREMENTS = """
import importlib.metadata as m, json, sys
from pip._vendor.packaging.requirements import Requirement
from pip._vendor.packaging.utils import canonicalize_name
extras, skipped = json.loads(sys.argv[1]), set(json.loads(sys.argv[2]))
lines = set()
for name, chosen in (("fairseq-xl", extras), ("fairseq-fixed", [])):
    for text in m.requires(name) or []:
        r = Requirement(text)
        if canonicalize_name(r.name) in skipped:
            continue
        if r.marker is None or any(r.marker.evaluate({"extra": e}) for e in ["", *chosen]):
            lines.add(r.name + str(r.specifier))
print(json.dumps(sorted(lines)))
"""


class SetupError(Exception):
    """Something the user can mend; the message is one sentence."""


def say(text: str) -> None:
    print(f"setup: {text}", file=sys.stderr, flush=True)


# ---------------------------------------------------------------- the environment


@dataclass
class Environment:
    """What the target environment holds, as its own interpreter reports it."""

    python: Path
    version: str
    prefix: Path
    site: Path
    found: dict[str, str]
    broken: list[str]
    copied: bool  # fairseq_xl is there as a copy (`pip install .`) that does not follow this checkout
    pip: bool

    @property
    def stamp(self) -> Path:
        return self.site / STAMP


def probe(python: Path) -> Environment | None:
    """The environment of ``python``, or None where that interpreter does not run."""
    try:
        done = subprocess.run([python, "-I", "-c", PROBE], capture_output=True, text=True, check=True)
        facts = json.loads(done.stdout)
    except (OSError, subprocess.CalledProcessError, json.JSONDecodeError):
        return None
    return Environment(
        python=python,
        version=facts["version"],
        prefix=Path(facts["prefix"]),
        site=Path(facts["site"]),
        found=facts["found"],
        broken=facts["broken"],
        copied=facts["copied"],
        pip=facts["pip"],
    )


def working(python: Path) -> Environment:
    """The environment of ``python``. Raises SetupError where that interpreter does not run."""
    env = probe(python)
    if env is None:
        raise SetupError("the environment's Python does not run; name a working one with --python PATH")
    return env


def make_venv(folder: Path, python: str, uv: str | None) -> None:
    """A new virtual environment with pip in ``folder``, in place of whatever unusable one is there."""
    if folder.exists() and any(folder.iterdir()) and not (folder / "pyvenv.cfg").exists():
        raise SetupError(f"{folder} exists and is no virtual environment; name another with --venv DIR")
    if folder.exists():
        say(f"{folder} is broken, incomplete or for another Python: making it anew")
        shutil.rmtree(folder)
    if uv:
        run([uv, "venv", "--quiet", "--no-project", "--seed", "--python", python, str(folder)])
    else:
        try:
            run([python, "-I", "-m", "venv", str(folder)])
        except SetupError as error:
            raise SetupError(
                f"{python} could not make a virtual environment (on Debian or Ubuntu: apt install python3-venv); "
                "or install uv and run this again"
            ) from error
    (folder / UNFINISHED).touch()


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Two set-ups of the same environment wait for each other."""
    name = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:16]
    with open(Path(tempfile.gettempdir()) / f"fairseq_xl-setup-{os.getuid()}-{name}.lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"another set-up of {folder} is running: waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


# ---------------------------------------------------------------- installers


def run(command: Sequence[str], *, env: dict[str, str] | None = None) -> None:
    """Run a command; its output goes to stderr. Raises SetupError when it fails."""
    done = subprocess.run(list(command), env=env, stdout=sys.stderr, check=False)
    if done.returncode:
        raise SetupError(f"this command failed (status {done.returncode}): {' '.join(command)}")


def build_environment() -> dict[str, str]:
    """fairseq builds no extension where READTHEDOCS is set: seconds, and no compiler, instead of minutes."""
    env = {**os.environ, "READTHEDOCS": "1"}
    index = os.environ.get("PIP_INDEX_URL")
    if index and not os.environ.get("UV_DEFAULT_INDEX") and not os.environ.get("UV_INDEX_URL"):
        env["UV_DEFAULT_INDEX"] = index  # uv does not read pip's settings
    return env


def find_links(python: Path, given: Sequence[str]) -> list[str]:
    """Wheel folders the user has named: by option, in the environment, or in pip's configuration."""
    links = list(given)
    links += os.environ.get("UV_FIND_LINKS", "").replace(",", " ").split()
    links += os.environ.get("PIP_FIND_LINKS", "").split()
    asked = subprocess.run(
        [python, "-m", "pip", "config", "get", "global.find-links"], capture_output=True, text=True, check=False
    )
    links += asked.stdout.split() if asked.returncode == 0 else []
    return list(dict.fromkeys(links))


@dataclass
class Installer:
    """uv where there is one, else pip: the same steps with the same constraints."""

    env: Environment
    uv: str | None
    links: list[str]
    pins: list[Path]

    def _common(self) -> list[str]:
        options = [part for link in self.links for part in ("--find-links", link)]
        options += [part for file in self.pins for part in ("--constraint", str(file))]
        return options

    def install(self, *what: str) -> None:
        if self.uv:
            command = [self.uv, "pip", "install", "--python", str(self.env.python)]
        else:
            command = [str(self.env.python), "-m", "pip", "install"]
        if not sys.stderr.isatty():  # in a terminal, gigabytes that come in should be seen to come in
            command.append("--quiet")
        run([*command, *self._common(), *what], env=build_environment())

    def local_torch(self, requirement: str) -> str | None:
        """Version of the newest torch wheel in the wheel folders that fits this interpreter."""
        if not self.links:
            return None
        links = [part for link in self.links for part in ("--find-links", link)]
        if self.uv:
            command = [self.uv, "pip", "compile", "-", "--quiet", "--no-config", "--no-header", "--no-annotate"]
            command += ["--no-deps", "--no-index", "--python", str(self.env.python), *links]
            done = subprocess.run(command, input=requirement, capture_output=True, text=True, check=False)
            name, _, version = done.stdout.strip().partition("==")
            return version if done.returncode == 0 and name == "torch" else None
        command = [str(self.env.python), "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
        command += ["--no-deps", "--no-index", "--report", "-", *links, requirement]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return json.loads(done.stdout)["install"][0]["metadata"]["version"] if done.returncode == 0 else None


def get_uv(env: Environment | None, choice: str, *, may_install: bool) -> str | None:
    """Path of uv: on the path, in the environment, or (where it may) installed into it by pip; None means pip."""
    if choice == "pip":
        return None
    found = shutil.which("uv")
    if found or env is None:
        return found
    inside = env.python.parent / "uv"
    if not inside.exists() and may_install and env.pip:
        command = [str(env.python), "-m", "pip", "install", "--quiet", "uv>=0.7"]
        if subprocess.run(command, check=False, stdout=sys.stderr).returncode:
            say("uv could not be had: going on with pip, which is slower")
    if inside.exists():
        return str(inside)
    if choice == "uv":
        raise SetupError("--installer uv: there is no uv on the path or in the environment, and pip could not get it")
    return None


# ---------------------------------------------------------------- torch


def has_gpu() -> bool:
    """Whether the driver's own tool lists a GPU."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return False
    done = subprocess.run([tool, "-L"], capture_output=True, text=True, check=False)
    return done.returncode == 0 and "GPU" in done.stdout


def release(version: str) -> tuple[int, ...]:
    """``2.13.0+cpu`` -> (2, 13, 0); a development version's tail is dropped."""
    numbers = []
    for part in version.partition("+")[0].split("."):
        digits = "".join(c for c in part if c.isdigit())
        if not digits or not part[0].isdigit():
            break
        numbers.append(int(digits))
    return tuple(numbers)


def is_cpu_build(version: str) -> bool:
    return version.endswith("+cpu")


@dataclass(frozen=True)
class TorchChoice:
    """What to install: a requirement, and uv's backend (``cpu``, ``auto``) or None for the default index."""

    requirement: str | None
    backend: str | None
    why: str


def choose_torch(
    *, installed: str | None, local: str | None, gpu: bool, wanted: str, cpu_index_differs: bool
) -> TorchChoice:
    """Which torch. ``installed`` and ``local`` are versions, ``wanted`` is auto, cpu, cuda or a version.

    An installed torch is never replaced; then a wheel in the user's folders counts, unless it is a CPU build and
    a GPU is to be used; then an index. Raises SetupError where the installed one cannot do.
    """
    if installed is not None:
        if release(installed)[:2] < OLDEST_TORCH:
            raise SetupError(
                f"torch {installed} is installed here, and fairseq_xl needs 2.6 or newer; upgrade it, or let "
                "bash scripts/setup.sh --venv DIR make an environment of its own"
            )
        if wanted[0].isdigit() and release(wanted) != release(installed):
            raise SetupError(
                f"torch {installed} is installed here and is never replaced; to have {wanted}, uninstall it first "
                "or make another environment with --venv DIR"
            )
        return TorchChoice(None, None, f"{installed}, which is installed and stays")
    use_gpu = wanted == "cuda" or (wanted != "cpu" and gpu)
    if local is not None and not (use_gpu and is_cpu_build(local)) and not (wanted == "cpu" and "+cu" in local):
        return TorchChoice(f"torch=={local}", None, f"{local}, a wheel in your wheel folders")
    version = wanted if wanted[0].isdigit() else TESTED_TORCH
    if use_gpu:
        return TorchChoice(f"torch=={version}", "auto", f"{version}, the build for this GPU's driver")
    if cpu_index_differs:
        return TorchChoice(f"torch=={version}", "cpu", f"{version}, the CPU build (no GPU is used)")
    return TorchChoice(f"torch=={version}", None, version)


def install_torch(installer: Installer, wanted: str) -> None:
    """Make sure of a torch in the environment, and of what fairseq's build needs beside it."""
    tools = ["setuptools>=70.1", "numpy>=1.26,<3"]
    installed = installer.env.found.get("torch")
    asked = f"torch=={wanted}" if wanted[0].isdigit() else "torch>={}.{}".format(*OLDEST_TORCH)
    choice = choose_torch(
        installed=installed,
        local=None if installed else installer.local_torch(asked),
        gpu=has_gpu(),
        wanted=wanted,
        # elsewhere the default index has no CUDA build
        cpu_index_differs=(sys.platform == "linux" and platform.machine() == "x86_64"),
    )
    say(f"torch {choice.why}")
    if choice.requirement is None:
        installer.install(*tools)
        return
    if choice.backend and installer.uv:
        try:
            installer.install("--torch-backend", choice.backend, choice.requirement, *tools)
            return
        except SetupError:
            say("that index cannot be reached (the message above says why): taking the default index's build")
    elif choice.backend:
        say("pip does not know where torch's builds for one backend are: taking the default index's build")
    if choice.backend:
        say("on Linux that is a build with CUDA libraries, several gigabytes; it works without a GPU too")
    installer.install(choice.requirement, *tools)


# ---------------------------------------------------------------- the steps


def has_compiler() -> bool:
    named = os.environ.get("CXX") or os.environ.get("CC")
    return any(shutil.which(name) for name in ([named] if named else ["c++", "g++", "clang++"]))


def install_rest(installer: Installer, extras: list[str], broken: list[str], wheel: Path | None) -> None:
    """fairseq, our package (editable, or ``wheel``), and everything both need, apart from fastText."""
    form = ["--editable"] if wheel is None else []
    ours = str(ROOT if wheel is None else wheel)
    if installer.uv:
        with tempfile.TemporaryDirectory() as folder:
            without = Path(folder) / "overrides.txt"
            without.write_text(OVERRIDES.read_text() + f'{FASTTEXT}; sys_platform == "never"\n')
            renewed = [*broken, "fairseq-xl"] if wheel else broken  # another wheel may have the same version
            again = [part for name in renewed for part in ("--reinstall-package", name)]
            installer.install(
                "--overrides",
                str(without),
                "--no-build-isolation-package",
                FAIRSEQ.partition("=")[0],
                *again,
                FAIRSEQ,
                *form,
                ours + (f"[{','.join(extras)}]" if extras else ""),
            )
        return
    if broken:
        installer.install(
            "--ignore-installed",
            "--no-deps",
            *[f"{name}=={installer.env.found[name]}" for name in broken if name in installer.env.found],
        )
    say("pip may remark below that torchaudio and fastText are missing: one is left out, the other comes last")
    installer.install("--no-build-isolation", "--no-deps", FAIRSEQ)
    installer.install("--no-deps", *(["--force-reinstall"] if wheel else form), ours)
    asked = subprocess.run(
        [
            installer.env.python,
            "-I",
            "-c",
            REQUIREMENTS,
            json.dumps(extras),
            json.dumps(["torchaudio", FASTTEXT, "fairseq-fixed"]),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    installer.install(*json.loads(asked.stdout))


def install_fasttext(installer: Installer) -> None:
    """fastText: the one part that needs a compiler where no wheel fits; without it the rest still works."""
    try:
        installer.install(f"{FASTTEXT}>=0.10.3,<0.11")
    except SetupError:
        if has_compiler():
            raise
        say(
            f"{FASTTEXT} has no wheel for this machine and there is no C++ compiler to build it: everything else is "
            "installed; to train target vectors or read .bin files here, install a compiler (on Debian or Ubuntu: "
            "apt install g++) and run this again"
        )


def fingerprint(version: str, wheel: Path | None) -> str:
    """What the environment was made from; another one means that it must be brought up to date."""
    digest = hashlib.sha256(f"{version} {ROOT}".encode())
    if wheel is not None:
        digest.update(wheel.read_bytes())
    for file in (ROOT / "setup.py", ROOT / "pyproject.toml", CONSTRAINTS, OVERRIDES, Path(__file__)):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def read_stamp(env: Environment) -> dict[str, Any]:
    try:
        return json.loads(env.stamp.read_text())
    except (OSError, json.JSONDecodeError):
        return {}


def is_current(env: Environment, stamp: dict[str, Any], extras: list[str], wheel: Path | None) -> bool:
    return (
        stamp.get("fingerprint") == fingerprint(env.version, wheel)
        and env.copied == (wheel is not None)
        and set(extras) <= set(stamp.get("extras", []))
        and set(stamp.get("distributions", [])) <= set(env.found)
        and not set(env.broken) & set(stamp.get("distributions", []))
        and (FASTTEXT in env.found or not has_compiler())  # a compiler that was missing may have come
    )


def the_wheel(named: str | None) -> Path | None:
    """The wheel to install in place of the clone, if one is named. Raises SetupError."""
    if named is None:
        return None
    wheel = Path(named).absolute()
    if not wheel.is_file() or not (wheel.name.startswith("fairseq_xl-") and wheel.name.endswith(".whl")):
        raise SetupError(f"--wheel {named}: there is no wheel of fairseq_xl of that name")
    return wheel


def set_up(options: argparse.Namespace) -> Environment:
    """Bring the environment up to date. Raises SetupError."""
    extras = [] if options.extras in ("", "none") else sorted(options.extras.split(","))
    wheel = the_wheel(options.wheel)
    own = not options.here
    if own:
        folder = Path(options.venv)
        python = folder.absolute() / "bin" / "python"
        env = None if (folder / UNFINISHED).exists() or not python.exists() else probe(python)
        other = options.python and env and not env.version.startswith(platform.python_version())
        if env is None or other or not (3, 11) <= release(env.version)[:2] < (3, 14):
            make_venv(folder, sys.executable, get_uv(None, options.installer, may_install=False))
            env = working(python)
    else:
        env = working(Path(sys.executable))
    stamp = {} if options.force else read_stamp(env)
    if is_current(env, stamp, extras, wheel):
        say(f"{env.prefix} is up to date")
        return env

    started = time.monotonic()
    extras = sorted(set(extras) | set(stamp.get("extras", [])))
    uv = get_uv(env, options.installer, may_install=own)
    say(f"installing into {env.prefix} (Python {env.version}, {'uv' if uv else 'pip'})")
    with tempfile.TemporaryDirectory() as scratch:
        links = find_links(Path(sys.executable), options.find_links)
        installer = Installer(env, uv, links, [CONSTRAINTS] if own else [])
        broken = [name for name in env.broken if name != "fairseq-xl"]
        if "torch" in broken:
            env.found.pop("torch", None)
        install_torch(installer, options.torch)
        torch = working(env.python).found["torch"]
        pin = Path(scratch) / "torch.txt"
        pin.write_text(f"torch=={torch}\n")
        installer.pins.append(pin)
        install_rest(installer, extras, [name for name in broken if name != "torch"], wheel)
        install_fasttext(installer)
    env = working(env.python)
    if env.broken:
        raise SetupError(f"files are missing from {', '.join(env.broken)}; run this again with --force")
    written = {"fingerprint": fingerprint(env.version, wheel), "extras": extras, "distributions": sorted(env.found)}
    temporary = env.stamp.with_suffix(".tmp")
    temporary.write_text(json.dumps(written, indent=1) + "\n")
    os.replace(temporary, env.stamp)
    (env.prefix / UNFINISHED).unlink(missing_ok=True)
    say(f"ready after {time.monotonic() - started:.0f} s: {env.prefix / 'bin' / 'fairseq-xl'}")
    return env


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/setup.sh",
        description="Install fairseq_xl and everything it needs; a second run only checks.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--venv", default=str(ROOT / ".venv"), help="virtual environment to make or reuse")
    place.add_argument(
        "--here", action="store_true", help="install into the active environment (or --python's own); its torch is kept"
    )
    parser.add_argument("--python", help="interpreter to use (3.11, 3.12 or 3.13)")
    parser.add_argument(
        "--torch",
        default="auto",
        metavar="WHICH",
        help="auto, cpu, cuda, or a version; an installed torch is never replaced",
    )
    parser.add_argument("--extras", default="report,test", help="extras of setup.py, or none")
    parser.add_argument("--installer", choices=["auto", "uv", "pip"], default="auto", help="what installs")
    parser.add_argument(
        "--find-links",
        action="append",
        default=[],
        metavar="DIR",
        help="a folder of wheels; pip's own setting is read too",
    )
    parser.add_argument(
        "--wheel", metavar="FILE", help="install this wheel of fairseq_xl; without it, the clone in editable form"
    )
    parser.add_argument("--force", action="store_true", help="install even if nothing changed")
    options = parser.parse_args()
    if options.torch not in ("auto", "cpu", "cuda") and not options.torch[:1].isdigit():
        parser.error(f"--torch {options.torch}: use auto, cpu, cuda or a version such as {TESTED_TORCH}")
    where = Path(sys.prefix) if options.here else Path(options.venv)
    try:
        with only_one(where):
            set_up(options)
    except SetupError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
