"""Download files and unpack archives, so that a killed download goes on and a bad one is noticed.

Nothing is deleted that was not made here.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
import stat
import tarfile
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Any

from tqdm import tqdm

from fairseq_xl.io.atomic import real_path
from fairseq_xl.io.errors import InputError, why_not_written
from fairseq_xl.io.folders import WRITTEN, atomic_folder
from fairseq_xl.io.lines import MOST_GROWTH

BLOCK = 1 << 16
TIMEOUT_SECONDS = 30
PAUSE_SECONDS = 1.0
SCHEMES = ("https", "http", "file")
LARGE = 1 << 30
"""Bytes that an archive may unpack to whatever its own size."""
TAR_SUFFIXES = (".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")
# zipfile says NotImplementedError to unknown versions, RuntimeError to encrypted files, ValueError or LookupError to
# odd names.
BROKEN_ARCHIVE = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error),
    *(NotImplementedError, RuntimeError, EOFError, OSError, ValueError, LookupError),
)
REFUSED: Any = getattr(tarfile, "FilterError", ())
"""Python before 3.11.4 has no filters, and so none of their errors."""


def fetch(
    url: str,
    target: Path | str,
    checksum: str | None = None,
    otherwise: str = "",
    attempts: int = 3,
) -> Path:
    """Download ``url`` to ``target`` unless a file is there already (and has the checksum).

    A download that broke off goes on from ``.TARGET.part`` where the server can do so. A file that is there already
    stays as it is, whatever its checksum.

    Args:
        checksum: ``sha256:HEX`` or ``md5:HEX``.
        otherwise: ends the sentence about an address that cannot be reached.
        attempts: to begin or to go on.

    Raises:
        InputError: an address or a checksum that is none, one that cannot be reached, a file with another checksum.
    """
    target = real_path(Path(target))
    _check_address(url)
    if checksum and not re.fullmatch("(sha256|md5):[0-9A-Fa-f]+", checksum):
        raise InputError(f"the checksum {checksum!r} is not sha256:HEX or md5:HEX")
    if target.exists() and not target.is_file():
        raise InputError(f"{target} is no file: name the file to write")
    if target.exists():
        if checksum and (found := _other_digest(target, checksum)):
            raise InputError(f"{target} is there already, with {found}: remove it to fetch it again")
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.part")
    hint = f"; {otherwise}" if otherwise else ""
    for attempt in range(attempts):
        try:
            _receive(url, part)
            break
        except urllib.error.HTTPError as error:
            raise InputError(f"{url} answers {error.code} {error.reason}{hint}") from None
        except (OSError, HTTPException, UnicodeError) as error:
            if why_not_written(error):
                raise
            if attempt + 1 == attempts:
                why = getattr(error, "reason", error)
                raise InputError(f"cannot reach {url} ({why}){hint}") from None
            time.sleep(PAUSE_SECONDS)
    if checksum and (found := _other_digest(part, checksum)):
        part.unlink()
        raise InputError(
            f"{url} gave a file with {found}: the download is damaged or the file has changed; try again or give "
            "another address"
        )
    os.replace(part, target)
    return target


def unpack(path: Path | str, folder: Path | str) -> Path:
    """Unpack a tar or zip archive into ``folder``, which appears only when all of it is there.

    Raises :class:`InputError` for a damaged archive and for one with links or with names that lie outside the folder.
    It also does so for an archive of over 1 GiB and ``MOST_GROWTH`` times its size when unpacked. Nothing is left
    behind then. A folder that holds anything but what was unpacked there before is refused, too, and stays as it is.
    """
    path, folder = Path(path), Path(folder)
    if not path.name.endswith((*TAR_SUFFIXES, ".zip")):
        raise InputError(f"{path} is no archive that can be unpacked (tar, tgz, zip)")
    with atomic_folder(folder, WRITTEN, "an archive unpacked here before") as new, _damage_explained(path):
        if path.suffix == ".zip":
            _unpack_zip(path, new)
        elif not hasattr(tarfile, "data_filter"):
            raise InputError(f"{path}: Python before 3.11.4 has no safe way to unpack a tar archive: take a newer one")
        else:
            with tarfile.open(path) as archive:
                archive.extractall(new, members=_safe_members(archive, path), filter="data")
    return folder


def _check_address(url: str) -> None:
    try:
        scheme = urllib.parse.urlsplit(url).scheme
        url.encode("ascii")
    except ValueError as error:
        raise InputError(f"cannot fetch {url}: it is no address ({error})") from None
    if scheme not in SCHEMES:
        raise InputError(f"cannot fetch {url}: the address must begin with https://")


def _other_digest(path: Path, checksum: str) -> str | None:
    """What a file has instead of a checksum ``sha256:…`` or ``md5:…``; None where it has this one."""
    algorithm, _, wanted = checksum.lower().partition(":")
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, algorithm).hexdigest()
    return None if found == wanted else f"{algorithm} {found} where {wanted} is expected"


def _open(url: str, start: int, version: str | None) -> HTTPResponse:
    request = urllib.request.Request(url)
    if start and version:
        request.add_header("Range", f"bytes={start}-")
        # The server sends the rest of the same file, or else the whole of the new one.
        request.add_header("If-Range", version)
    return urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS)


def _receive(url: str, part: Path) -> None:
    """Append what is missing of ``url`` to ``part``; beside it lies the server's mark of the version."""
    mark = part.with_name(part.name + ".version")
    start = part.stat().st_size if part.exists() else 0
    try:
        response = _open(url, start, mark.read_text(encoding="ascii") if mark.exists() else None)
    except urllib.error.HTTPError as error:
        if error.code != 416:  # "range not satisfiable": what is there is no beginning of the file
            raise
        start, response = 0, _open(url, 0, None)
    with response:
        resumed = getattr(response, "status", None) == 206
        span = re.fullmatch(r"bytes (\d{1,18})-\d{1,18}/(\d{1,18}|\*)", response.headers.get("Content-Range") or "")
        if resumed and (span is None or int(span[1]) != start):
            part.unlink(missing_ok=True)  # nothing says where the bytes to come belong
            raise ConnectionError("it sent another part than was asked for")
        if not resumed:
            start = 0
        version = response.headers.get("ETag") or response.headers.get("Last-Modified") or "W/"
        # A weak mark does not vouch for the bytes, and an odd one cannot be sent back.
        if version.startswith("W/") or not (version.isascii() and version.isprintable()):
            mark.unlink(missing_ok=True)
        else:
            mark.write_text(version, encoding="ascii")
        length = response.headers.get("Content-Length") or ""
        total = start + int(length) if length.isdecimal() and len(length) < 19 else None
        if resumed and span is not None and span[2] != "*":
            total = int(span[2])
        name = part.name.removeprefix(".").removesuffix(".part")
        shown = {"initial": start, "desc": name, "unit": "B", "unit_scale": True}
        bar = tqdm(total=total, disable=None, **shown)
        with part.open("ab" if resumed else "wb") as stream, bar:
            while block := response.read(BLOCK):
                stream.write(block)
                bar.update(len(block))
                if total is not None and stream.tell() > total:
                    part.unlink(missing_ok=True)
                    raise ConnectionError(f"it goes on after all of its {total} bytes")
    if total is not None and part.stat().st_size != total:
        raise ConnectionError(f"it ended after {part.stat().st_size} of {total} bytes")
    mark.unlink(missing_ok=True)


@contextmanager
def _damage_explained(path: Path) -> Iterator[None]:
    try:
        yield
    except InputError:
        raise
    except REFUSED as error:
        raise InputError(f"{path}: refused, {error}") from None
    except BROKEN_ARCHIVE as error:
        if why_not_written(error):
            raise
        raise InputError(f"{path} cannot be unpacked ({error}): fetch it again") from None


def _check_growth(path: Path, unpacked: int) -> None:
    if unpacked > max(LARGE, MOST_GROWTH * path.stat().st_size):
        raise InputError(
            f"{path}: refused, it unpacks to over {MOST_GROWTH} times its size; if that is right, unpack it yourself"
        )


def _check_names(path: Path, names: list[str]) -> None:
    name, times = Counter(map(posixpath.normpath, names)).most_common(1)[0] if names else ("", 0)
    if times > 1:
        raise InputError(f"{path}: refused, {name!r} is in it {times} times, and one would take the other's place")


def _safe_members(archive: tarfile.TarFile, path: Path) -> list[tarfile.TarInfo]:
    members, unpacked = [], 0
    for member in archive:  # one by one: listing all of a bomb would take as long as unpacking it
        if not (member.isfile() or member.isdir()):
            raise InputError(f"{path}: refused, {member.name!r} is a link or a device, not a file")
        unpacked += member.size
        _check_growth(path, unpacked)
        members.append(member)
    _check_names(path, [member.name for member in members if member.isfile()])
    return members


def _unpack_zip(path: Path, folder: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        _check_names(path, [member.filename for member in archive.infolist()])
        for member in archive.infolist():
            name = Path(member.filename.replace("\\", "/"))
            if name.is_absolute() or ".." in name.parts or ":" in str(name).partition("/")[0]:
                raise InputError(f"{path}: refused, {member.filename!r} lies outside the folder")
            if stat.S_ISLNK(member.external_attr >> 16):
                raise InputError(f"{path}: refused, {member.filename!r} is a link, not a file")
        _check_growth(path, sum(member.file_size for member in archive.infolist()))
        archive.extractall(folder)
