from __future__ import annotations

import contextlib
import hashlib
import io
import stat
import tarfile
import zipfile

import local_server
import pytest

from fairseq_xl.io import fetch as module
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.fetch import fetch, unpack

BODY = bytes(range(256)) * 1000


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch):
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.0)


@pytest.fixture
def server():
    """A server that knows ranges; ``cut`` is how many bytes it sends before it hangs up."""

    class Handler(local_server.Quiet):
        body, version, cut, ranges, log, length, span = BODY, '"one"', [], True, [], None, "bytes {}-{}/{}"

        def do_GET(self):
            start = 0
            asked = self.headers.get("Range")
            if self.path == "/missing":
                self.send_error(404)
                return
            if asked and self.ranges and self.headers.get("If-Range") == self.version:
                start = int(asked.removeprefix("bytes=").rstrip("-"))
            self.log.append(start)
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", self.length or str(len(self.body) - start))
            if start:
                self.send_header("Content-Range", self.span.format(start, len(self.body) - 1, len(self.body)))
            self.send_header("ETag", self.version)
            self.end_headers()
            end = self.cut.pop(0) if self.cut else len(self.body)
            self.wfile.write(self.body[start:end])

    with local_server.serving(Handler) as server:
        server.handler = Handler
        yield server


def test_a_broken_download_goes_on_where_it_stopped(server, tmp_path):
    server.handler.cut[:] = [100_000, 200_000]
    digest = f"sha256:{hashlib.sha256(BODY).hexdigest()}"
    fetch(f"{server.url}/a", tmp_path / "sub" / "a", digest)
    assert (tmp_path / "sub" / "a").read_bytes() == BODY
    assert server.handler.log == [0, 100_000, 200_000]
    assert [item.name for item in (tmp_path / "sub").iterdir()] == ["a"]


def test_a_later_call_resumes_and_a_changed_file_starts_over(server, tmp_path):
    server.handler.cut[:] = [50_000]
    with pytest.raises(InputError, match="ended after 50000 of 256000 bytes"):
        fetch(f"{server.url}/a", tmp_path / "a", attempts=1)
    assert not (tmp_path / "a").exists()
    server.handler.version, server.handler.body = '"two"', BODY[::-1]
    fetch(f"{server.url}/a", tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == BODY[::-1]


@pytest.mark.parametrize("span", ["bytes 0-{1}/{2}", "bytes 7-{1}/{2}", "nonsense", "bytes {0}-{1}/99"])
def test_a_part_that_was_not_asked_for_is_not_put_behind_what_is_there(server, tmp_path, span):
    server.handler.cut, server.handler.span = [len(BODY) // 2], span
    assert fetch(f"{server.url}/x", tmp_path / "x").read_bytes() == BODY
    assert server.handler.log[0] == server.handler.log[-1] == 0


def test_a_file_that_never_ends(tmp_path):
    with pytest.raises(InputError, match=r"cannot reach file:///dev/zero \(it goes on after all of its 0 bytes"):
        fetch("file:///dev/zero", tmp_path / "x")


def test_a_file_that_is_there_is_not_fetched_again(server, tmp_path):
    (tmp_path / "a").write_bytes(b"mine")
    fetch(f"{server.url}/a", tmp_path / "a")
    assert server.handler.log == []
    assert (tmp_path / "a").read_bytes() == b"mine"


def test_a_download_with_a_wrong_checksum_is_removed(server, tmp_path):
    with pytest.raises(InputError, match=r"sha256 .* where 00 is expected"):
        fetch(f"{server.url}/a", tmp_path / "a", "sha256:00")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match="is not sha256:HEX or md5:HEX"):
        fetch(f"{server.url}/a", tmp_path / "a", "crc:00")


def test_a_file_that_was_there_stays_whatever_its_checksum(server, tmp_path):
    (tmp_path / "a").write_bytes(b"mine")
    with pytest.raises(InputError, match=r"a is there already, with sha256 .* where 00 is expected: remove it"):
        fetch(f"{server.url}/a", tmp_path / "a", "sha256:00")
    assert (tmp_path / "a").read_bytes() == b"mine"
    with pytest.raises(InputError, match="is no file: name the file"):
        fetch(f"{server.url}/a", tmp_path)


def test_links_and_devices_stay(server, tmp_path):
    (tmp_path / "link").symlink_to("target")
    (tmp_path / "loop").symlink_to("loop")
    fetch(f"{server.url}/a", tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == BODY
    with pytest.raises(InputError, match="loop: it is one of a loop of links"):
        fetch(f"{server.url}/a", tmp_path / "loop")
    with pytest.raises(InputError, match="null is no file: name the file to write"):
        fetch(f"{server.url}/a", "/dev/null")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "loop", "target"]


@pytest.mark.parametrize("version", ['"\xe9"', '"a\tb"', "W/x"])
def test_odd_versions_and_lengths_are_passed_over(server, tmp_path, version, monkeypatch):
    monkeypatch.setattr(server.handler, "version", version)
    monkeypatch.setattr(server.handler, "length", "9" * 5000)
    server.handler.cut[:] = [50_000]
    fetch(f"{server.url}/a", tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == BODY[:50_000]


@pytest.mark.parametrize("url", ["http://[", "https://é/ü", "http://host:port/", "http://a b/", "https://"])
def test_odd_addresses_are_refused(tmp_path, url):
    with pytest.raises(InputError, match=r"cannot (fetch|reach)"):
        fetch(url, tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_failures_name_the_address_and_the_other_way(server, tmp_path):
    server.shutdown()
    server.server_close()
    with pytest.raises(InputError, match=rf"cannot reach {server.url}/a .*; give --data DIR$"):
        fetch(f"{server.url}/a", tmp_path / "a", otherwise="give --data DIR")


def test_an_answer_that_is_no_file_is_named(server, tmp_path):
    with pytest.raises(InputError, match=rf"{server.url}/missing answers 404 Not Found; use --data$"):
        fetch(f"{server.url}/missing", tmp_path / "a", otherwise="use --data")


def test_other_schemes_are_refused(tmp_path):
    with pytest.raises(InputError, match="must begin with https://"):
        fetch("ftp://host/a", tmp_path / "a")


def tar(path, *members):
    """A .tgz whose members are (name, type, link target or content)."""
    with tarfile.open(path, "w:gz") as archive:
        for name, kind, content in members:
            info = tarfile.TarInfo(name)
            info.type = kind
            data = content.encode() if kind == tarfile.REGTYPE else b""
            info.size = len(data)
            info.linkname = "" if kind == tarfile.REGTYPE else content
            archive.addfile(info, io.BytesIO(data))
    return path


def test_archives_unpack_whole(tmp_path):
    archive = tar(tmp_path / "a.tgz", ("fr-en/train", tarfile.REGTYPE, "bonjour"))
    assert (unpack(archive, tmp_path / "out") / "fr-en" / "train").read_text() == "bonjour"
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as zipped:
        zipped.writestr("b/c", "hello")
    assert (unpack(tmp_path / "b.zip", tmp_path / "out") / "b" / "c").read_text() == "hello"
    assert not (tmp_path / "out" / "fr-en").exists()


def test_an_old_python_unpacks_zips_alone(tmp_path, monkeypatch):
    monkeypatch.delattr(tarfile, "data_filter")
    archive = tar(tmp_path / "a.tgz", ("a", tarfile.REGTYPE, "x"))
    with pytest.raises(InputError, match=r"Python before 3\.11\.4 has no safe way to unpack a tar archive"):
        unpack(archive, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as zipped:
        zipped.writestr("b", "hello")
    assert (unpack(tmp_path / "b.zip", tmp_path / "out") / "b").read_text() == "hello"


def test_a_folder_that_holds_something_else_stays(tmp_path, monkeypatch):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.tex").write_text("mine")
    archive = tar(tmp_path / "home" / "a.tgz", ("a", tarfile.REGTYPE, "x"))
    monkeypatch.chdir(tmp_path / "home")
    for folder in (tmp_path / "home", ".", ".."):
        with pytest.raises(InputError, match="holds something else than an archive unpacked here before"):
            unpack(archive, folder)
    out = unpack(archive, tmp_path / "out")
    unpack(archive, tmp_path / "out")
    (out / "notes").write_text("mine")
    with pytest.raises(InputError, match="holds 'notes', which is not of an archive unpacked here before"):
        unpack(archive, tmp_path / "out")
    assert (out / "notes").read_text() == "mine"
    assert (tmp_path / "home" / "thesis.tex").read_text() == "mine"


@pytest.mark.parametrize("name", ["", "a\0b", "x" * 5000])
def test_odd_names_in_zips_are_unpacked_or_refused(tmp_path, name):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as zipped:
        zipped.writestr(zipfile.ZipInfo("placeholder"), "x")
        zipped.filelist[0].filename = name
    with contextlib.suppress(InputError):
        unpack(tmp_path / "a.zip", tmp_path / "out")
    assert {path.name for path in tmp_path.iterdir()} <= {"a.zip", "out"}


@pytest.mark.parametrize(
    "member",
    [
        ("../outside", tarfile.REGTYPE, "x"),
        ("a/../../outside", tarfile.REGTYPE, "x"),
        ("link", tarfile.SYMTYPE, "/etc/passwd"),
        ("hard", tarfile.LNKTYPE, "good"),
        ("pipe", tarfile.FIFOTYPE, ""),
    ],
)
def test_unsafe_tars_are_refused_and_leave_nothing(tmp_path, member):
    archive = tar(tmp_path / "a.tgz", ("good", tarfile.REGTYPE, "x"), member)
    with pytest.raises(InputError, match=r"a\.tgz: refused"):
        unpack(archive, tmp_path / "in" / "out")
    assert list((tmp_path / "in").iterdir()) == []
    assert not (tmp_path / "outside").exists()


def test_absolute_names_stay_inside(tmp_path):
    target = tmp_path / "elsewhere"
    archive = tar(tmp_path / "a.tgz", (str(target), tarfile.REGTYPE, "x"))
    unpack(archive, tmp_path / "out")
    assert not target.exists()


@pytest.mark.parametrize("suffix", ["tgz", "zip"])
def test_two_files_of_one_name_in_an_archive_are_refused(tmp_path, suffix):
    archive = tmp_path / f"a.{suffix}"
    if suffix == "tgz":
        tar(archive, ("a/b", tarfile.REGTYPE, "one"), ("a/./b", tarfile.REGTYPE, "two"))
    else:
        with zipfile.ZipFile(archive, "w") as zipped:
            zipped.writestr("a/b", "one")
            zipped.writestr("a/./b", "two")
    with pytest.raises(InputError, match=r"refused, 'a/b' is in it 2 times"):
        unpack(archive, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["../outside", "/abs", "a/../../b", "C:\\x", "..\\x"])
def test_unsafe_zips_are_refused(tmp_path, name):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as zipped:
        zipped.writestr(name, "x")
    with pytest.raises(InputError, match="lies outside the folder"):
        unpack(tmp_path / "a.zip", tmp_path / "out")


def test_a_link_in_a_zip_is_refused(tmp_path):
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as zipped:
        zipped.writestr("a", "x")
        zipped.writestr(link, "/etc/passwd")
    with pytest.raises(InputError, match="'link' is a link, not a file"):
        unpack(tmp_path / "a.zip", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["a.zip"]


@pytest.mark.parametrize("suffix", ["tgz", "zip"])
def test_an_archive_that_would_fill_the_disk_is_refused(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(module, "LARGE", 1 << 20)
    archive = tmp_path / f"a.{suffix}"
    if suffix == "tgz":
        tar(archive, *((f"zeros{n}", tarfile.REGTYPE, "0" * (1 << 20)) for n in range(3)))
    else:
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zipped:
            zipped.writestr("zeros", "0" * (3 << 20))
    with pytest.raises(InputError, match="unpacks to over 100 times its size"):
        unpack(archive, tmp_path / "in" / "out")
    assert list((tmp_path / "in").iterdir()) == []


def test_damaged_and_other_files_are_named(tmp_path):
    whole = tar(tmp_path / "a.tgz", ("a", tarfile.REGTYPE, "x" * 100_000)).read_bytes()
    (tmp_path / "a.tgz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"a\.tgz cannot be unpacked"):
        unpack(tmp_path / "a.tgz", tmp_path / "out")
    (tmp_path / "a.rar").write_bytes(b"x")
    with pytest.raises(InputError, match="is no archive that can be unpacked"):
        unpack(tmp_path / "a.rar", tmp_path / "out")
    assert not (tmp_path / "out").exists()
