"""``fairseq-xl match search``: questions of a corpus that mean the same as a new one."""

from __future__ import annotations

import io
import json
import sys

from fairseq_xl.cli.main import main


def test_search_finds_the_topic_and_encodes_once(checkpoint, trained, tmp_path, capsys, monkeypatch):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("Quiero mi reembolso\nVer la tarjeta\nEl envío cuándo\nMi vendedor\n", encoding="utf-8")
    line = ["match", "search", str(corpus), "--encoder", str(checkpoint), "--index", str(tmp_path / "index")]
    line += ["--rerank", str(checkpoint), "-k", "2", "--device", "cpu"]

    def ask(question: str) -> dict:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"{question}\n".encode())))
        assert main(line) == 0
        return json.loads(capsys.readouterr().out)

    found = ask("¿Cuándo puedo ver la devolución?")["found"]
    assert found[0]["text"] == "Quiero mi reembolso"
    assert found[0]["line"] == 1
    assert found[0]["probability"] > found[1]["probability"]
    made = (tmp_path / "index" / "vectors.npy").stat().st_mtime_ns
    assert ask("mi visa")["found"][0]["text"] == "Ver la tarjeta"
    assert (tmp_path / "index" / "vectors.npy").stat().st_mtime_ns == made
    corpus.write_text("El paquete\nMi tienda\n", encoding="utf-8")
    assert ask("ver vendedor")["found"][0]["text"] == "Mi tienda"
    (tmp_path / "index" / "vectors.npy").unlink()
    assert ask("ver vendedor")["found"][0]["text"] == "Mi tienda"
    (tmp_path / "file").write_text("mine")
    assert main([*line[:6], str(tmp_path / "file"), *line[7:]]) == 2
    assert "file is a file: name a folder" in capsys.readouterr().err
    assert main([*line[:4], str(trained / "esim" / "checkpoint_last.pt"), *line[5:]]) == 2
    assert "reads two sentences together" in capsys.readouterr().err


def test_lines_without_words_are_never_found(checkpoint, tmp_path, capsys, monkeypatch):
    """A classifier judges them like others, and once a real question came below an empty line."""
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\nMi tienda\n…\nVer la tarjeta\n", encoding="utf-8")
    line = ["match", "search", str(corpus), "--encoder", str(checkpoint), "--index", str(tmp_path / "index")]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"mi visa\n")))
    assert main([*line, "--rerank", str(checkpoint), "--device", "cpu"]) == 0
    assert [hit["line"] for hit in json.loads(capsys.readouterr().out)["found"]] == [4, 2]
    corpus.write_text("…\n", encoding="utf-8")
    assert main(line) == 2
    assert "corpus.txt has a word that the encoder reads: give other text" in capsys.readouterr().err
