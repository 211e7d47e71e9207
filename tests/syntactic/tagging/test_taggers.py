"""Sources of tags, and training one."""

from __future__ import annotations

import gzip
import json
import types
from pathlib import Path

import pytest

from fairseq_xl.cli.main import main
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import atomic_folder
from fairseq_xl.syntactic.tagging.taggers import accuracy, load_tagger
from fairseq_xl.text.conllu import Sentence, read_conllu

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


# --- training ---


def treebank(path: Path, sentences: list[list[tuple[str, str]]], spaces: bool = True) -> Path:
    """Sentences of (token, tags of its words)."""
    blocks = []
    for tokens in sentences:
        rows, number = [], 0
        for form, tags in tokens:
            tags = tags.split()
            if len(tags) > 1:
                rows.append([f"{number + 1}-{number + len(tags)}", form, "_"])
            for tag in tags:
                number += 1
                rows.append([str(number), form, tag])
        text = (" " if spaces else "").join(form for form, _ in tokens)
        lines = "".join(f"{row[0]}\t{row[1]}\t_\t{row[2]}\t_\t_\t_\t_\t_\t_\n" for row in rows)
        blocks.append(f"# text = {text}\n{lines}\n")
    path.write_text("".join(blocks), encoding="utf-8")
    return path


GERMAN = [
    [("Tom", "PROPN"), (verb, "VERB"), (preposition, tags), (noun, "NOUN"), (".", "PUNCT")]
    for verb in ("geht", "läuft", "fährt")
    for preposition, tags in (("zum", "ADP DET"), ("ans", "ADP DET"), ("ohne", "ADP"), ("durch", "ADP"))
    for noun in ("Haus", "Tor", "Wasser", "Dorf")
]
CHINESE = [
    [(who, "PRON"), (verb, "VERB"), (where, "PROPN"), ("。", "PUNCT")]
    for who in ("我", "你", "我们", "他们")
    for verb in ("去", "喜欢", "看见")
    for where in ("北京", "上海", "中国", "台湾")
]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A German and a Chinese tagger."""
    folder = tmp_path_factory.mktemp("taggers")
    for language, sentences in (("de", GERMAN), ("zh", CHINESE)):
        path = treebank(folder / f"{language}.conllu", sentences, language != "zh")
        words = [path, "-l", language, "-o", folder / language, "--epochs", 12, "--test", path]
        assert main(["embed", "train-tagger", *map(str, words)]) == 0
    return folder


def test_a_tagger_takes_contractions_apart(trained):
    tagger = load_tagger(str(trained / "de"), "de")
    expected = [["PROPN", "VERB", "ADP", "DET", "NOUN", "PUNCT"], ["PROPN", "VERB", "ADP", "NOUN", "PUNCT"]]
    assert tagger.tag(["Tom geht zum Dorf.", "Tom läuft  durch Wasser ."]) == expected


def test_a_tagger_segments_chinese(trained):
    tagger = load_tagger(str(trained / "zh"), "zh")
    assert tagger.tag(["我们看见中国。", "我去 北京。"]) == [["PRON", "VERB", "PROPN", "PUNCT"]] * 2


def test_what_is_written_beside_a_model(trained):
    figures = json.loads((trained / "de" / "accuracy.json").read_text())
    assert figures["upos_f1"] > 95
    assert figures["sentences"] == len(GERMAN)
    about = json.loads((trained / "de" / "tagger.json").read_text())
    assert (about["language"], about["train"]) == ("de", ["de.conllu"])
    assert about["training_sentences"] + about["validation_sentences"] == len(GERMAN)


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


def test_vectors_of_pieces(trained, tmp_path):
    """A tagger with word vectors tags a noun that no treebank had but its vector's neighbours."""
    words = [trained / "de.conllu", "-l", "de", "-o", tmp_path / "de.pieces"]
    assert main(["embed", "pieces", *map(str, words)]) == 0
    pieces = (tmp_path / "de.pieces").read_text().splitlines()
    assert pieces[0] == "Tom geht zum Haus ."
    kinds = {word: tags for sentence in GERMAN for word, tags in sentence} | {"Burg": "NOUN"}
    axes = sorted(set(kinds.values()))
    rows = [[float(kinds[word] == axis) for axis in axes] for word in kinds]
    lines = [f"{word} {' '.join(map(str, row))}" for word, row in zip(kinds, rows, strict=True)]
    (tmp_path / "de.vec").write_text(f"{len(lines)} {len(axes)}\n" + "\n".join(lines) + "\n")
    options = ["-l", "de", "-o", tmp_path / "de", "--vectors", tmp_path / "de.vec", "--epochs", 12]
    words = [trained / "de.conllu", *options]
    assert main(["embed", "train-tagger", *map(str, words)]) == 0
    assert load_tagger(str(tmp_path / "de"), "de").tag(["Tom geht zum Burg ."])[0][4] == "NOUN"


def test_too_small_a_treebank(tmp_path, capsys):
    path = treebank(tmp_path / "de.conllu", GERMAN[:5])
    assert main(["embed", "train-tagger", str(path), "-l", "de", "-o", str(tmp_path / "de")]) == 2
    assert "5 sentences are too few for a tagger; give 10 or more" in capsys.readouterr().err
    assert not (tmp_path / "de").exists()


@pytest.mark.parametrize("option", [(), ("--valid",)])
def test_a_text_that_is_not_its_words(option, tmp_path, capsys):
    good = treebank(tmp_path / "good.conllu", GERMAN)
    bad = tmp_path / "bad.conllu"
    blocks = good.read_text().split("\n\n")
    blocks[2] = "# sent_id = s3\n" + blocks[2].replace("# text = Tom", "# text = Tim")
    bad.write_text("\n\n".join(blocks))
    files = [good, *option, bad] if option else [bad]
    words = ["-l", "de", "-o", tmp_path / "de"]
    assert main(["embed", "train-tagger", *map(str, [*files, *words])]) == 2
    said = capsys.readouterr().err
    assert "bad.conllu, sentence 3 (s3): its words spell 'Tom geht zum Wasser .'" in said
    assert "says 'Tim geht zum Wasser .': mend one of them" in said


def test_a_folder_of_others_is_not_replaced_by_a_tagger(trained, tmp_path, capsys):
    """It is refused before anything is trained; a tagger is replaced."""
    (tmp_path / "thesis.tex").write_text("mine")
    words = ["embed", "train-tagger", str(trained / "de.conllu"), "-l", "de", "--epochs", "1"]
    assert main([*words, "-o", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "holds something else than a tagger: name another folder" in said
    assert "LOSS" not in said
    assert (tmp_path / "thesis.tex").read_text() == "mine"
    old = tmp_path / "old"
    with atomic_folder(old, "tagger.json", "a tagger") as folder:
        for name in ("tagger.json", "left"):
            (folder / name).write_text("{}")
    assert main([*words, "-o", str(old)]) == 0
    assert load_tagger(str(old), "de").tag(["Tom ."])
    assert not (old / "left").exists()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(("old", "."))] == ["old"]


@pytest.mark.parametrize(
    ("language", "pieces"),
    [
        ("ko", "나는 간다 ."),
        ("vi", "나는 간다 ."),
        ("xyz", "나는 간다 ."),
        ("ja", "나 는 간 다 ."),
        ("th", "나 는 간 다 ."),
    ],
)
def test_languages_whose_tokenisers_spacy_has_not(language, pieces):
    from fairseq_xl.syntactic.tagging.training import blank

    assert [token.text for token in blank(language).make_doc("나는 간다.") if not token.is_space] == pieces.split()


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


@pytest.mark.slow
def test_a_real_treebank(data_dir, tmp_path):
    """Dutch from 650 sentences."""
    path = data_dir / "ud" / "UD_Dutch-Alpino" / "nl_alpino-ud-dev.conllu"
    words = [path, "-l", "nl", "-o", tmp_path / "nl", "--epochs", 6]
    assert main(["embed", "train-tagger", *map(str, words)]) == 0
    about = json.loads((tmp_path / "nl" / "tagger.json").read_text())
    assert about["validation_accuracy_of_labels"] > 80
    assert len(list(read_conllu(path))) == about["training_sentences"] + about["validation_sentences"]
