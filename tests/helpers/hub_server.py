"""A server that stands in for the Hugging Face Hub and has one model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from hashlib import sha1
from pathlib import Path
from urllib.parse import unquote, urlsplit

import local_server
import pytest

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub(local_server.Quiet):
    """What huggingface_hub asks for to bring a whole model: its files' names, and each of them."""

    folder: Path
    name = "somebody/de-en"

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, body: bool) -> None:
        path = unquote(urlsplit(self.path).path)
        files = sorted(file for file in self.folder.rglob("*") if file.is_file())
        if path.startswith(f"/api/models/{self.name}/tree/"):
            listed = [
                {"type": "file", "path": self.relative(file), "size": file.stat().st_size, "oid": self.tag(file)}
                for file in files
            ]
            return self.send(json.dumps(listed).encode(), body)
        if path.startswith(f"/api/models/{self.name}"):
            siblings = [{"rfilename": self.relative(file)} for file in files]
            return self.send(json.dumps({"id": self.name, "sha": COMMIT, "siblings": siblings}).encode(), body)
        found = re.fullmatch(rf"/{self.name}/resolve/{COMMIT}/(.+)", path)
        if found and (self.folder / found[1]).is_file():
            file = self.folder / found[1]
            return self.send(file.read_bytes(), body, {"ETag": f'"{self.tag(file)}"', "X-Repo-Commit": COMMIT})
        self.send(b"", body, {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"}, 404)
        return None

    def relative(self, file: Path) -> str:
        return file.relative_to(self.folder).as_posix()

    def tag(self, file: Path) -> str:
        return sha1(file.read_bytes(), usedforsecurity=False).hexdigest()

    def send(self, content: bytes, body: bool, headers: dict[str, str] | None = None, status: int = 200) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if body:
            self.wfile.write(content)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Hub]]:
    """A stand-in for the Hub with one model, and a cache of its own."""
    pytest.importorskip("huggingface_hub")
    kind = type("OneModel", (Hub,), {"folder": tmp_path / "published"})
    kind.folder.mkdir()
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    with local_server.serving(kind) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield kind
