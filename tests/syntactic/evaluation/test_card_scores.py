"""What a model card takes from an evaluation."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from fairseq_xl.cli.main import main
from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.evaluation.card_scores import card_scores

from .conftest import evaluated


def test_scores_of_one_encoder_as_it_comes(sets: Path, treebanks: list[str], tmp_path: Path) -> None:
    record = evaluated(sets, treebanks, tmp_path, "length", "told=tags")
    scores = card_scores(tmp_path / "out" / "record.json", Path("length"))
    found = [(one.data, one.setting, one.metric, one.kind) for one in scores]
    groups = "3 groups of tag sequences"
    assert found == [
        *((f"{language}.tsv", groups, f"{k}-NN accuracy (%)", "accuracy") for language in ("de", "en") for k in (1, 5)),
        *(
            (f"{language}_pud.conllu", "gold tags", "correlation of cosine and tag similarity", "pearsonr")
            for language in ("de", "en")
        ),
    ]
    length = record["encoders"][0]
    assert scores[0].score == round(length["nearest"]["de"]["1-NN"], 1)
    assert scores[-1].score == round(length["dissimilarity"]["en"]["correlation"], 3)
    content = record["texts"]["sets"]["de"]["sha256"]
    assert scores[0].signature.startswith(f"sentences:19|sha256:{content[:12]}|fairseq_xl:")


def test_a_card_with_scores_goes_with_a_packed_encoder(upos_run, sets: Path, tmp_path: Path, capsys) -> None:
    checkpoint = upos_run[1] / "checkpoint_last.pt"
    output = tmp_path / "scored"
    scored = ["embed", "evaluate", f"ours={checkpoint}", "--sets", str(sets), "--measures", "nearest"]
    assert main([*scored, "--transform", "center", "-o", str(output)]) == 0
    pack = ["embed", "pack", "-o", str(tmp_path / "e"), "--licence", "mit", "--record", f"{output}.json"]
    assert main([*pack, str(checkpoint)]) == 0
    card = (tmp_path / "e" / "README.md").read_text(encoding="utf-8")
    entry, centred = json.loads(Path(f"{output}.json").read_text())["encoders"]
    assert (entry["label"], centred["label"]) == ("ours", "ours, centred")
    accuracy = round(entry["nearest"]["de"]["1-NN"], 1)
    assert f"| de.tsv | 3 groups of tag sequences | 1-NN accuracy (%) | {accuracy} |" in card
    assert "metrics:\n- accuracy\n" in card
    assert card.count("| de.tsv |") == 2
    # of another checkpoint, nothing is said and nothing written
    other = shutil.copy(checkpoint, tmp_path / "other.pt")
    before = (tmp_path / "e" / "README.md").read_bytes()
    assert main([*pack, str(other)]) == 2
    assert f"scored.json has no scores of {other}, but of ours ({checkpoint})" in capsys.readouterr().err
    assert (tmp_path / "e" / "README.md").read_bytes() == before


def test_a_record_that_does_not_speak_of_the_file_as_it_is(sets: Path, treebanks: list[str], tmp_path: Path) -> None:
    record = evaluated(sets, treebanks, tmp_path, "length")
    path, checkpoint = tmp_path / "r.json", tmp_path / "checkpoint.pt"
    checkpoint.write_bytes(b"")
    entry = {**record["encoders"][0], "spec": str(checkpoint)}

    def read(index: str | None = None, **changed: dict[str, float]) -> list[str]:
        path.write_text(json.dumps({**record, "index": index, "encoders": [{**entry, **changed}]}))
        return [one.signature for one in card_scores(path, checkpoint)]

    assert not any("index" in signature for signature in read())
    assert ["|index:hnsw|" in signature for signature in read("hnsw")] == [True] * 4 + [False] * 2
    with pytest.raises(InputError, match="has no nearest neighbours or correlations of"):
        read(nearest={}, dissimilarity={})
    later = path.stat().st_mtime + 9
    os.utime(checkpoint, (later, later))
    with pytest.raises(InputError, match=r"checkpoint\.pt is newer than its scores in .*r\.json: evaluate it again"):
        read()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"encoders": 3}', '{"encoders": [{"label": "a"}]}'])
def test_what_is_no_evaluation(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(InputError, match=r"r\.json is no record of an evaluation"):
        card_scores(tmp_path / "r.json", Path("length"))
    with pytest.raises(InputError, match="there is no record"):
        card_scores(tmp_path / "none.json", Path("length"))
