"""Sources of tags, and how well they tag."""

from __future__ import annotations

import gzip
import json
import types
from pathlib import Path

import pytest

from fairseq_xl.cli.main import main
from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.tagging.taggers import accuracy, load_tagger
from fairseq_xl.text.conllu import Sentence

from .conftest import treebank

pytest.importorskip("spacy")


def test_gold_tags_are_found_by_text(multilingual):
    tagger = load_tagger(str(multilingual.treebank("de")), "de")
    (found,) = tagger.tag(["Ich sehe eins und zwei Katzen."])
    assert " ".join(found) == "PRON VERB NUM CCONJ NUM NOUN PUNCT"
    with pytest.raises(InputError, match=r"de\.conllu has no tags for 'Ich gehe\.'"):
        tagger.tag(["Ich gehe."])
    before = tagger.fingerprint
    assert load_tagger(str(multilingual.treebank("de")), "de").fingerprint == before
    path = multilingual.treebank("de")
    path.write_text(path.read_text().replace("VERB", "AUX"))
    assert load_tagger(str(path), "de").fingerprint != before


def test_gold_tags_of_other_spellings_and_of_two_kinds(tmp_path):
    """Decomposed letters are found by composed ones, nothing has no tags, and two analyses are not chosen from."""
    path = treebank(
        tmp_path / "de.conllu",
        [[("scho\u0308n", "ADJ")], [("gut", "ADJ")], [("gut", "ADV")], [("ja", "INTJ")], [("ja", "INTJ")]],
    )
    tagger = load_tagger(str(path), "de")
    assert tagger.tag(["sch\u00f6n", "", "scho\u0308n ", "ja"]) == [["ADJ"], [], ["ADJ"], ["INTJ"]]
    with pytest.raises(InputError, match=r"de\.conllu tags 'gut' both ADJ and ADV: remove one"):
        tagger.tag(["gut"])
    packed = tmp_path / "de.conllu.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert load_tagger(str(packed), "de").tag(["ja"]) == [["INTJ"]]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nowhere", "there is no tagger nowhere for 'de': train one"),
        ("spacy:nowhere_sm", "nowhere_sm is not a spaCy model"),
        ("FOLDER", "is not a spaCy model"),
        ("nowhere.conllu", "there is no file nowhere.conllu"),
    ],
)
def test_no_such_tagger(name, said, tmp_path):
    with pytest.raises(InputError, match=said):
        load_tagger(str(tmp_path) if name == "FOLDER" else name, "de")


# --- trained ones ---


def test_a_tagger_takes_contractions_apart(trained):
    tagger = load_tagger(str(trained / "de"), "de")
    expected = [["PROPN", "VERB", "ADP", "DET", "NOUN", "PUNCT"], ["PROPN", "VERB", "ADP", "NOUN", "PUNCT"]]
    assert tagger.tag(["Tom geht zum Dorf.", "Tom läuft  durch Wasser ."]) == expected


def test_a_tagger_segments_chinese(trained):
    tagger = load_tagger(str(trained / "zh"), "zh")
    assert tagger.tag(["我们看见中国。", "我去 北京。"]) == [["PRON", "VERB", "PROPN", "PUNCT"]] * 2


def test_fingerprints(trained):
    tagger = load_tagger(str(trained / "de"), "de")
    figures = trained / "de" / "accuracy.json"
    text = figures.read_text()
    figures.write_text("{}")
    assert load_tagger(str(trained / "de"), "de").fingerprint == tagger.fingerprint
    figures.write_text(text)
    assert load_tagger(str(trained / "zh"), "zh").fingerprint != tagger.fingerprint


def test_a_tagger_of_another_language(trained):
    with pytest.raises(InputError, match="is for the language 'de', not 'nl'"):
        load_tagger(str(trained / "de"), "nl")


def test_testing_and_tagging_by_command(trained, tmp_path, capsys):
    name = str(trained / "de")
    assert main(["embed", "test-tagger", str(trained / "de.conllu"), "-l", "de", "-t", name]) == 0
    assert json.loads(capsys.readouterr().out)["whole_sentences"] > 90
    (tmp_path / "x.txt").write_text("Tom geht zum Tor.\n\n")
    words = [tmp_path / "x.txt", "-o", tmp_path / "x.tsv", "-l", "de", "-t", name, "--cache", tmp_path / "tags.sqlite"]
    assert main(["embed", "tag", *map(str, words)]) == 0
    assert (tmp_path / "x.tsv").read_text().splitlines()[1:] == [
        "Tom geht zum Tor.\tPROPN VERB ADP DET NOUN PUNCT",
        "\t",
    ]


# --- other people's models ---


def test_a_packaged_spacy_model_gives_its_universal_tags(tmp_path):
    import spacy
    from spacy.language import Language

    @Language.component("conjunctions")
    def conjunctions(doc):
        for token in doc:
            token.pos_ = "SPACE" if token.is_space else "CONJ"
        return doc

    nlp = spacy.blank("en")
    nlp.add_pipe("conjunctions", name="tagger")
    nlp.to_disk(tmp_path / "model")
    assert load_tagger(str(tmp_path / "model"), "en").tag(["One  two."]) == [["CCONJ"] * 3]
    with pytest.raises(InputError, match="is for the language 'en', not 'de'"):
        load_tagger(str(tmp_path / "model"), "de")
    spacy.blank("en").to_disk(tmp_path / "empty")
    with pytest.raises(InputError, match="has no tagger among its components"):
        load_tagger(str(tmp_path / "empty"), "en")


SPANISH = (
    "el gato del vecino duerme.",
    "un perro ve.",
    "el vecino del perro come.",
    "un gato del perro ve.",
    "el perro duerme.",
    "un vecino come.",
    "un perro del vecino duerme.",
    "el gato come.",
)
SPANISH_TAGS = {
    **dict.fromkeys(["el", "un"], "DET"),
    **dict.fromkeys(["gato", "vecino", "perro"], "NOUN"),
    **dict.fromkeys(["duerme", "ve", "come"], "VERB"),
    "de": "ADP",
    ".": "PUNCT",
}


def spanish_block(text: str) -> str:
    """The sentence as a treebank has it: *del* is two words, and nothing stands before the full stop."""
    lines, number = [f"# text = {text}"], 0
    for token in [*text[:-1].split(), "."]:
        words = ["de", "el"] if token == "del" else [token]
        if len(words) == 2:
            lines.append("\t".join([f"{number + 1}-{number + 2}", token, *"_" * 8]))
        for word in words:
            number += 1
            relation = "dep" if number > 1 else "root"
            lines.append(f"{number}\t{word}\t{word}\t{SPANISH_TAGS[word]}\t_\t_\t{number - 1}\t{relation}\t_\t_")
    lines[-2] = lines[-2][:-1] + "SpaceAfter=No"
    return "\n".join(lines)


@pytest.fixture(scope="module")
def stanza_models(tmp_path_factory) -> Path:
    """Small models of stanza's own trainers, in folders as its download makes: a Spanish one, and the same called
    Chinese without a model of contractions."""
    tokenizer, tagger, expander = (
        pytest.importorskip(f"stanza.models.{name}") for name in ("tokenizer", "tagger", "mwt_expander")
    )
    from stanza.utils.datasets import prepare_tokenizer_data

    folder = tmp_path_factory.mktemp("stanza")
    for part in ("train", "dev"):
        sentences = SPANISH * (6 if part == "train" else 2)
        (folder / f"{part}.conllu").write_text("\n\n".join(map(spanish_block, sentences)) + "\n\n")
        (folder / f"{part}.txt").write_text("\n\n".join(sentences) + "\n")
        files = [f"{folder}/{part}.{kind}" for kind in ("txt", "conllu", "labels", "json")]
        prepare_tokenizer_data.main([*files[:2], "-o", files[2], "-m", files[3]])
    train, dev = f"{folder}/train", f"{folder}/dev"
    models = folder / "models"
    for processor, trainer, options in (
        (
            "tokenize",
            tokenizer,
            f"--txt_file {train}.txt --label_file {train}.labels --dev_txt_file {dev}.txt "
            f"--dev_label_file {dev}.labels "
            f"--dev_conll_gold {dev}.conllu --mwt_json_file {dev}.json --conll_file {folder}/found --lr0 0.02 "
            "--steps 100 --eval_steps 50 --batch_size 16 --hidden_dim 16 --emb_dim 8",
        ),
        (
            "mwt",
            expander,
            f"--train_file {train}.conllu --eval_file {dev}.conllu --gold_file {dev}.conllu "
            f"--output_file {folder}/found --dict_only",
        ),
        (
            "pos",
            tagger,
            f"--train_file {train}.conllu --eval_file {dev}.conllu --output_file {folder}/found --lr 0.02 "
            "--max_steps 60 --eval_interval 20 --fix_eval_interval --batch_size 100 --word_cutoff 1 --no_char "
            "--no_pretrain --hidden_dim 16 --deep_biaff_hidden_dim 16 --composite_deep_biaff_hidden_dim 8",
        ),
    ):
        saved = models / "es" / processor
        trainer.main([*options.split(), *f"--lang es --shorthand es_x --save_dir {saved} --save_name x.pt".split()])
        if processor != "mwt":
            (models / "zh-hans" / processor).mkdir(parents=True)
            (models / "zh-hans" / processor / "x.pt").write_bytes((saved / "x.pt").read_bytes())
    resources = {
        language: {
            "lang_name": language,
            "packages": {"default": dict.fromkeys(processors, "x")},
            **{processor: {"x": {}} for processor in processors},
        }
        for language, processors in (("es", ("tokenize", "mwt", "pos")), ("zh-hans", ("tokenize", "pos")))
    }
    (models / "resources.json").write_text(json.dumps(resources))
    return models


@pytest.mark.slow
def test_stanza(stanza_models):
    spanish = load_tagger(f"stanza:{stanza_models}", "es")
    assert [" ".join(tags) for tags in spanish.tag(["el gato del vecino ve.", "un perro come."])] == [
        "DET NOUN ADP DET NOUN VERB PUNCT",
        "DET NOUN VERB PUNCT",
    ]
    chinese = load_tagger(f"stanza:{stanza_models}", "zh")
    assert [len(tags) for tags in chinese.tag(["el gato del vecino ve."])] == [6]
    assert chinese.fingerprint != spanish.fingerprint
    for folder, language in ((stanza_models, "de"), (stanza_models / "nowhere", "es")):
        with pytest.raises(InputError, match=f"no stanza tagger for '{language}' in {folder} .*: train one with"):
            load_tagger(f"stanza:{folder}", language)


def test_stanza_may_download_where_no_folder_is_named(monkeypatch):
    stanza = pytest.importorskip("stanza")
    asked = []

    def offline(*names, **options):
        asked.append((*names, options))
        raise OSError("no network")

    monkeypatch.setattr(stanza, "Pipeline", offline)
    with pytest.raises(InputError, match=r"no stanza tagger for 'zh' in stanza's models \(no network\): train one"):
        load_tagger("stanza", "zh")
    assert asked == [("zh-hans", {"processors": "tokenize,mwt,pos", "verbose": False})]


# --- accuracy ---


def test_accuracy():
    """Gold ABC, AB, C and tagged ABD, A, C: four right of six gold and five tagged words."""
    gold = [Sentence("", text, tuple(text), tuple(text)) for text in ("ABC", "AB", "C")]
    tags = {"ABC": ["A", "B", "D"], "AB": ["A"], "C": ["C"]}
    tagger = types.SimpleNamespace(tag=lambda texts: [tags[text] for text in texts])
    assert accuracy(tagger, gold) == {
        "upos_f1": 72.73,  # 8/11
        "whole_sentences": 33.33,
        "sentences": 3,
        "gold_words": 6,
        "tagged_words": 5,
    }
