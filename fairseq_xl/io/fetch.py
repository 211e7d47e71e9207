"""Download files and unpack archives, so that a killed download goes on and a bad one is noticed."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tarfile
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
import zlib
from http.client import HTTPException, HTTPResponse
from pathlib import Path

from tqdm import tqdm

from fairseq_xl.io.atomic import hidden_name
from fairseq_xl.io.errors import InputError

BLOCK = 1 << 16
TIMEOUT_SECONDS = 30
PAUSE_SECONDS = 1.0
SCHEMES = ("https", "http", "file")
# Text packs to a tenth; what grows more than this, and is large, is there to fill the disk.
MOST_GROWTH = 100
LARGE = 1 << 30
TAR_SUFFIXES = (".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")


def _digest(path: Path, algorithm: str) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, algorithm).hexdigest()


def _check(path: Path, url: str, checksum: str) -> None:
    """Compare with ``sha256:…`` or ``md5:…``; removes the file and raises when they differ."""
    algorithm, _, wanted = checksum.partition(":")
    if algorithm not in {"sha256", "md5"} or not wanted:
        raise InputError(f"the checksum {checksum!r} is not sha256:HEX or md5:HEX")
    found = _digest(path, algorithm)
    if found != wanted.lower():
        path.unlink()
        raise InputError(
            f"{url} gave a file with {algorithm} {found} where {wanted.lower()} is expected: the"
            " download is damaged or the file has changed; try again or give another address"
        )


def _open(url: str, start: int, validator: str | None) -> HTTPResponse:
    request = urllib.request.Request(url)
    if start and validator:
        request.add_header("Range", f"bytes={start}-")
        # The server sends the rest of the same file, or else the whole of the new one.
        request.add_header("If-Range", validator)
    return urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS)


def _receive(url: str, part: Path, progress: bool) -> None:
    """Append what is missing of ``url`` to ``part``; beside it lies the server's mark of the version."""
    mark = part.with_name(part.name + ".version")
    start = part.stat().st_size if part.exists() else 0
    validator = mark.read_text(encoding="ascii") if mark.exists() else None
    try:
        response = _open(url, start, validator)
    except urllib.error.HTTPError as error:
        if error.code != 416:  # "range not satisfiable": what is there is no beginning of the file
            raise
        part.unlink(missing_ok=True)
        mark.unlink(missing_ok=True)
        start, response = 0, _open(url, 0, None)
    with response:
        resumed = getattr(response, "status", None) == 206
        if not resumed:
            start = 0
        version = response.headers.get("ETag") or response.headers.get("Last-Modified")
        if version and not version.startswith("W/"):  # a weak mark does not vouch for the bytes
            mark.write_text(version, encoding="ascii")
        else:
            mark.unlink(missing_ok=True)
        length = response.headers.get("Content-Length")
        total = start + int(length) if length else None
        bar = tqdm(
            total=total,
            initial=start,
            desc=part.name.removesuffix(".part"),
            unit="B",
            unit_scale=True,
            disable=None if progress else True,
        )
        with part.open("ab" if resumed else "wb") as stream, bar:
            while block := response.read(BLOCK):
                stream.write(block)
                bar.update(len(block))
    if total is not None and part.stat().st_size != total:
        raise ConnectionError(f"it ended after {part.stat().st_size} of {total} bytes")
    mark.unlink(missing_ok=True)


def fetch(
    url: str,
    target: Path | str,
    checksum: str | None = None,
    otherwise: str = "",
    attempts: int = 3,
    progress: bool = True,
) -> Path:
    """Download ``url`` to ``target`` unless a file is there already (and has the checksum).

    A download that broke off goes on from ``target.part`` where the server can do so. ``otherwise``
    ends the sentence of the :class:`InputError` for an address that cannot be reached.
    """
    target = Path(target)
    if urllib.parse.urlsplit(url).scheme not in SCHEMES:
        raise InputError(f"cannot fetch {url}: the address must begin with https://")
    if target.exists():
        if checksum:
            _check(target, url, checksum)
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    hint = f"; {otherwise}" if otherwise else ""
    for attempt in range(attempts):
        try:
            _receive(url, part, progress)
            break
        except urllib.error.HTTPError as error:
            raise InputError(f"{url} answers {error.code} {error.reason}{hint}") from None
        except (OSError, HTTPException) as error:
            if attempt + 1 == attempts:
                why = getattr(error, "reason", error)
                raise InputError(f"cannot reach {url} ({why}){hint}") from None
            time.sleep(PAUSE_SECONDS)
    if checksum:
        _check(part, url, checksum)
    os.replace(part, target)
    return target


# zipfile says NotImplementedError and RuntimeError to unknown versions and to encrypted files.
BROKEN_ARCHIVE = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error),
    *(NotImplementedError, RuntimeError, EOFError, OSError),
)


def _check_growth(path: Path, unpacked: int) -> None:
    if unpacked > max(LARGE, MOST_GROWTH * path.stat().st_size):
        raise InputError(
            f"{path}: refused, it unpacks to over {MOST_GROWTH} times its size; if that is right, unpack it yourself"
        )


def _safe_members(archive: tarfile.TarFile, path: Path) -> list[tarfile.TarInfo]:
    members, unpacked = [], 0
    for member in archive:  # one by one: listing all of a bomb would take as long as unpacking it
        if not (member.isfile() or member.isdir()):
            raise InputError(f"{path}: refused, {member.name!r} is a link or a device, not a file")
        unpacked += member.size
        _check_growth(path, unpacked)
        members.append(member)
    return members


def _unpack_zip(path: Path, folder: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            name = Path(member.filename.replace("\\", "/"))
            if name.is_absolute() or ".." in name.parts or ":" in name.parts[0]:
                raise InputError(f"{path}: refused, {member.filename!r} lies outside the folder")
            if stat.S_ISLNK(member.external_attr >> 16):
                raise InputError(f"{path}: refused, {member.filename!r} is a link, not a file")
        _check_growth(path, sum(member.file_size for member in archive.infolist()))
        archive.extractall(folder)


def unpack(path: Path | str, folder: Path | str) -> Path:
    """Unpack a tar or zip archive into ``folder``, which appears only when all of it is there.

    Raises :class:`InputError` for a damaged archive and for one with links, with names that lie outside the folder,
    or of over 1 GiB and ``MOST_GROWTH`` times its size when unpacked; nothing is left behind then.
    """
    path, folder = Path(path), Path(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = hidden_name(folder)
    temporary.mkdir()
    try:
        if path.name.endswith(TAR_SUFFIXES):
            with tarfile.open(path) as archive:
                archive.extractall(temporary, members=_safe_members(archive, path), filter="data")
        elif path.suffix == ".zip":
            _unpack_zip(path, temporary)
        else:
            raise InputError(f"{path} is no archive that can be unpacked (tar, tgz, zip)")
        if folder.exists():
            shutil.rmtree(folder)
        os.replace(temporary, folder)
    except tarfile.FilterError as error:
        raise InputError(f"{path}: refused, {error}") from None
    except BROKEN_ARCHIVE as error:
        raise InputError(f"{path} cannot be unpacked ({error}): fetch it again") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return folder
