"""The card of a model: what the Hub reads of it, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from fairseq_xl.io.errors import InputError
from fairseq_xl.report.model_card import Card, CardOptions, card_scores

CARD = Card(title="From de to en", task="translation", languages=("de", "en"), does="Translates.", loading="\nload()\n")
SIGNATURE = "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"


@pytest.fixture
def record(tmp_path: Path) -> Path:
    scores = {"test": {"beam5": {"BLEU": {"score": 37.9, "signature": SIGNATURE}}}}
    (tmp_path / "record.json").write_text(json.dumps({"scores": scores}))
    return tmp_path / "record.json"


def front_matter(text: str) -> dict:
    _, head, _ = text.split("---\n", 2)
    return yaml.safe_load(head)


def test_what_it_says(record: Path) -> None:
    text = CARD.text(CardOptions(licence="cc-by-4.0", dataset=["some/pairs", "lines of ours"]), card_scores(record))
    head = front_matter(text)
    assert (head["license"], head["language"], head["datasets"]) == ("cc-by-4.0", ["de", "en"], ["some/pairs"])
    (result,) = head["model-index"][0]["results"]
    assert result["metrics"] == [{"type": "bleu", "value": 37.9, "name": "BLEU, beam 5"}]
    row = next(line for line in text.splitlines() if line.startswith("| test |"))
    # as GitHub and the Hub cut a row: at bars without a backslash, in code too
    cells = [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
    assert cells == ["test", "beam 5", "BLEU", "37.9", f"`{SIGNATURE}`"]
    assert "```python\nload()\n```" in text
    assert "- lines of ours\n" in text


def test_the_hub_reads_it(record: Path, tmp_path: Path) -> None:
    hub = pytest.importorskip("huggingface_hub")
    (tmp_path / "README.md").write_text(CARD.text(CardOptions(licence="mit"), card_scores(record)))
    data = hub.ModelCard.load(tmp_path / "README.md").data
    said = {"license": "mit", "pipeline_tag": "translation", "library_name": "fairseq_xl"}
    assert said.items() <= data.to_dict().items()
    assert (data.eval_results[0].metric_type, data.eval_results[0].metric_value) == ("bleu", 37.9)


def test_without_scores_and_data(tmp_path: Path) -> None:
    head = front_matter(CARD.text(CardOptions(licence="mit")))
    assert not {"model-index", "metrics", "datasets"} & set(head)


def test_a_card_without_a_licence_is_refused(record: Path) -> None:
    assert not CardOptions().asked_for
    assert CardOptions(licence="mit").asked_for
    for licence in ("CC BY 4.0", "MIT", "../x", "mit\nname: x"):
        with pytest.raises(InputError, match=r"which is no identifier of the Hub: give one, such as cc-by-4\.0"):
            _ = CardOptions(licence=licence).asked_for
    for options in (CardOptions(record=record), CardOptions(dataset=["a"])):
        with pytest.raises(InputError, match="a model card states a licence: give --licence, such as"):
            _ = options.asked_for


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"scores": []}', '{"scores": {"test": {"beam5": {"BLEU": 3}}}}'])
def test_what_is_no_record(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(InputError, match=r"r\.json is no record of"):
        card_scores(tmp_path / "r.json")
    with pytest.raises(InputError, match="there is no record of"):
        card_scores(tmp_path / "none.json")
