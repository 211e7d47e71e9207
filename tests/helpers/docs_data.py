"""Small files under the names that the pages' commands use."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from doc_pages import ROOT

NOUNS = {
    "de": ["Hund", "Mann", "Vogel", "Baum", "Stein", "Tisch", "Fisch", "Ball"],
    "en": ["dog", "man", "bird", "tree", "stone", "table", "fish", "ball"],
    "es": ["perro", "hombre", "gallo", "pino", "canto", "banco", "pez", "globo"],
    "fr": ["chien", "père", "coq", "pin", "caillou", "banc", "poisson", "ballon"],
}
# Four frames, in which the second and the fourth have other tags than the others.
FRAMES = {
    "de": ("Der {} sieht den {}.", "Der rote {} findet den {}.", "Der {} mag den {}!", "Heute kauft der {} den {}."),
    "en": ("The {} sees the {}.", "The red {} finds the {}.", "The {} loves the {}!", "Today the {} buys the {}."),
    "es": ("El {} ve el {}.", "El {} rojo encuentra el {}.", "El {} quiere el {}!", "Hoy el {} compra el {}."),
    "fr": ("Le {} voit le {}.", "Le {} rouge trouve le {}.", "Le {} aime le {}!", "Demain le {} porte le {}."),
}
PLAIN, ADVERB = "DET NOUN VERB DET NOUN PUNCT", "ADV DET NOUN VERB DET NOUN PUNCT"
BEFORE, AFTER = "DET ADJ NOUN VERB DET NOUN PUNCT", "DET NOUN ADJ VERB DET NOUN PUNCT"
TAGS = {
    "de": (PLAIN, BEFORE, PLAIN, "ADV VERB DET NOUN DET NOUN PUNCT"),
    "en": (PLAIN, BEFORE, PLAIN, ADVERB),
    "es": (PLAIN, AFTER, PLAIN, ADVERB),
    "fr": (PLAIN, AFTER, PLAIN, ADVERB),
}
MEANINGS = [(frame, one, other) for frame in range(4) for one in range(8) for other in range(8)]
random.Random(1).shuffle(MEANINGS)


def sentences(language: str) -> list[str]:
    """256 of them: line n means the same in every language."""
    nouns = NOUNS[language]
    return [FRAMES[language][frame].format(nouns[one], nouns[other]) for frame, one, other in MEANINGS]


def tokens(language: str) -> list[str]:
    """The same as a tokeniser leaves them."""
    return [line.lower()[:-1] + " " + line[-1] for line in sentences(language)]


def write(path: Path, lines: Iterable[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def write_table(path: Path, *columns: Iterable[object], mark: str = "\t") -> None:
    write(path, (mark.join(map(str, row)) for row in zip(*columns, strict=True)))


def write_vectors(path: Path, language: str) -> None:
    draw = random.Random(language)
    words = sorted({word for line in [*tokens(language), *sentences(language)] for word in line.split()})
    rows = [" ".join([word, *(f"{draw.gauss(0, 1):.3f}" for _ in range(8))]) for word in words]
    write(path, [f"{len(rows)} 8", *rows])


def write_treebank(path: Path, language: str, count: int = 256) -> None:
    blocks = []
    for number, (text, meaning) in enumerate(zip(sentences(language), MEANINGS, strict=True)):
        words, tags = [*text[:-1].split(), text[-1]], TAGS[language][meaning[0]].split()
        rows = []
        for place, (word, tag) in enumerate(zip(words, tags, strict=True), start=1):
            more = "SpaceAfter=No" if place == len(words) - 1 else "_"
            # A tree: each word hangs on the one before it.
            relation = "root" if place == 1 else "dep"
            rows.append(f"{place}\t{word}\t{word}\t{tag}\t_\t_\t{place - 1}\t{relation}\t_\t{more}")
        blocks.append("\n".join([f"# sent_id = n{number}", f"# text = {text}", *rows, ""]))
    write(path, blocks[:count])


def write_questions(path: Path, count: int, *, header: str | None = None, label: bool = True) -> None:
    """Two questions and whether they are about one thing."""
    draw, lines = random.Random(path.name), [] if header is None else [header]
    for number in range(count):
        topic = draw.randrange(8)
        other = topic if number % 2 else (topic + draw.randrange(1, 8)) % 8
        row = [_question("es", topic, draw), _question("es", other, draw), str(int(topic == other))]
        lines.append("\t".join(row if label else row[:2]))
    write(path, lines)


def _question(language: str, topic: int, draw: random.Random) -> str:
    ways = {
        "es": ("¿Dónde está {}?", "¿Quién tiene ya {}?", "¿Cuándo llega al fin {}?", "¿Cómo se compra aquí {}?"),
        "en": ("Where is {}?", "Who has {} already?", "When does {} come at last?", "How do I buy {} here?"),
    }
    colour = draw.randrange(12)
    thing = f"el {NOUNS['es'][topic]} {colour}" if language == "es" else f"the {NOUNS['en'][topic]} {colour}"
    return ways[language][draw.randrange(4)].format(thing)


# --- what the pages need ---


def first_steps(folder: Path) -> None:
    parallel_text(folder / "text", "de", "en")
    write_vectors(folder / "en.vec", "en")
    write_table(folder / "low.tsv", ["good", "bad"] * 48, sentences("de")[:96])


def parallel_text(folder: Path, *languages: str) -> None:
    """Tokenised train, valid and test."""
    for language in languages:
        lines = tokens(language)
        for part, span in (("train", slice(160)), ("valid", slice(160, 176)), ("test", slice(176, 184))):
            write(folder / f"{part}.{language}", lines[span])


def multi30k(folder: Path) -> None:
    for language in ("de", "en", "fr"):
        lines = sentences(language)
        for part, span in (("train", slice(160)), ("val", slice(160, 176)), ("test_2016_flickr", slice(176, 184))):
            write(folder / f"{part}.{language}", lines[span])


def iwslt16(folder: Path) -> None:
    for language in ("fr", "en"):
        lines = sentences(language)
        head = ["<url>http://x</url>", "<talkid>1</talkid>", "<title>T</title>"]
        write(folder / f"train.tags.fr-en.{language}", [*head, *lines[:160]])
        for number, name in enumerate(("tst2013", "tst2014", "tst2015", "tst2016")):
            part = lines[160 + 8 * number : 168 + 8 * number]
            segments = [f'<seg id="{place}"> {line} </seg>' for place, line in enumerate(part, start=1)]
            kind = "srcset" if language == "fr" else "refset"
            begin = ['<?xml version="1.0"?>', "<mteval>", f'<{kind} setid="x">', f'<doc docid="{name}">']
            end = ["</doc>", f"</{kind}>", "</mteval>"]
            write(folder / f"IWSLT16.TED.{name}.fr-en.{language}.xml", [*begin, *segments, *end])


def translator(folder: Path) -> None:
    parallel_text(folder, "de", "en")
    write_table(folder / "deu-eng.tsv", sentences("en"), sentences("de"))
    write(folder / "more.en", tokens("en")[184:])
    write(folder / "in.de", [*sentences("de")[:3], "", *sentences("de")[3:6]])


def recipes(folder: Path) -> None:
    multi30k(folder / "DIR")
    iwslt16(folder / "DIR")
    write(folder / "FILE", sentences("en")[184:])
    write_table(folder / "deu-eng.tsv", sentences("en"), sentences("de"))
    write(folder / "in.de", sentences("de")[:6])


def experiments(folder: Path) -> None:
    multi30k(folder / "DIR")
    write(folder / "FILE", sentences("en")[184:])


def siamese(folder: Path) -> None:
    lines = {
        "te": [f"సినిమా {word} చాలా {number} మంచి" for number, word in enumerate(NOUNS["de"] * 12)],
        "en": sentences("en")[:96],
        "es": sentences("es")[:96],
    }
    classes, signs, emoji = [n % 3 for n in range(96)], ["-1", "0", "+1"], [n % 6 for n in range(96)]
    data = folder / "DIR"
    write_table(data / "telugu_actsa" / "train.txt", [signs[n] for n in classes], lines["te"], mark=" ")
    labelled = {"umsab/english": ("train", "val"), "tweeteval": ("val",), "tweeteval_en": ("train", "val")}
    for name, parts in labelled.items():
        for part, span in zip(parts, (slice(64), slice(64, 96)), strict=False):
            write(data / name / f"{part}_text.txt", lines["en"][span])
            labels = emoji if name == "tweeteval_en" else classes
            write(data / name / f"{part}_labels.txt", map(str, labels[span]))
    for part, span in (("train", slice(192)), ("val", slice(192, 256))):
        write(data / "umsab" / "spanish" / f"{part}_text.txt", sentences("es")[span])
        write(data / "umsab" / "spanish" / f"{part}_labels.txt", (str(n % 3) for n in range(256)[span]))
    names = ["label", *(("negative", "neutral", "positive")[n] for n in classes)]
    write_table(data / "semeval_en" / "tweets.tsv", ["id", *range(96)], names, ["text", *lines["en"]])
    write(data / "semeval2018_es" / "train.text", lines["es"])
    write(data / "semeval2018_es" / "train.labels", map(str, emoji))
    for name in ("semeval2018_es", "tweeteval_en"):
        write_table(data / name / "mapping.txt", range(6), "❤😍😂💕🔥😊")
    stars = [str(1 + 2 * n) for n in classes]
    write_table(folder / "reviews.csv", ["body", *lines["te"]], ["stars", *stars], mark=",")
    write_table(folder / "en.tsv", stars, lines["en"])
    write(folder / "text.txt", lines["te"][:5])
    for language in ("en", "es"):
        write(folder / f"words.{language}", [line.lower() for line in lines[language]])
    (folder / "CHECKPOINT").symlink_to("checkpoints/checkpoint_best.pt")


def question_matching(folder: Path) -> None:
    draw, data = random.Random(2), folder / "DIR"
    for name, order in (("english_train", (0, 1)), ("spanish_train", (1, 0))):
        rows = []
        for number in range(200 if name == "english_train" else 40):
            topic = draw.randrange(8)
            topics = (topic, topic if number % 2 else (topic + draw.randrange(1, 8)) % 8)
            sides = [[_question(one, this, draw) for one in ("en", "es")] for this in topics]
            label = str(int(topics[0] == topics[1]))
            rows.append("\t".join([*(side[place] for side in sides for place in order), label]))
        write(data / f"cikm_{name}.txt", rows)
    pairs = [[_question(one, draw.randrange(8), draw) for one in ("es", "en")] for _ in range(60)]
    write(data / "cikm_unlabel_spanish_train.txt", ("\t".join(pair) for pair in pairs))
    write_questions(data / "cikm_test_a.txt", 40, label=False)
    write_questions(folder / "train.tsv", 200, header="q1\tq2\tsame")
    write_questions(folder / "judged.tsv", 30, label=False)
    write_questions(folder / "new.tsv", 10, label=False)
    for name, count in (("more.txt", 100), ("corpus.txt", 40), ("questions", 3)):
        write(folder / name, (_question("es", draw.randrange(8), draw) for _ in range(count)))
    write_vectors(folder / "words.vec", "es")
    (folder / "MODEL").symlink_to("checkpoints/checkpoint_best.pt")


def corpus(folder: Path) -> None:
    write_vectors(folder / "en.vec", "en")
    # Each page has one frame and one subject, so that there is something to tell topics by.
    order = sorted(range(len(MEANINGS)), key=MEANINGS.__getitem__)
    texts = {language: [sentences(language)[place] for place in order] for language in ("en", "fr")}
    for page in range(32):
        for language, other in (("en", "fr"), ("fr", "en")):
            links = "".join(f'<a href="/{language}/{(page + step) % 32}.html">{step}</a>' for step in (1, 2))
            body = "".join(f"<p>{line}</p>\n" for line in texts[language][8 * page : 8 * page + 8])
            head = f'<link rel="alternate" hreflang="{other}" href="/{other}/{page}.html">'
            html = f'<!DOCTYPE html><html lang="{language}"><head>{head}</head><body>{body}{links}</body></html>'
            write(folder / "site" / language / f"{page}.html", [html])
    write_questions(folder / "FILE", 30)
    # Each translation stands beside two sentences.
    for code, language in (("fra", "fr"), ("spa", "es")):
        translations = [sentences(language)[number // 2] for number in range(len(MEANINGS))]
        write_table(folder / f"{code}-eng.tsv", sentences("en"), translations)


TATOEBA = ("deu", "spa", "fra", "ind", "kor", "nld", "cmn")
TREEBANKS = (
    "English-EWT",
    "German-GSD",
    "German-LIT",
    "Spanish-GSD",
    "Dutch-Alpino",
    "Korean-GSD",
    "Chinese-GSD",
    "French-GSD",
    "Indonesian-GSD",
    "Portuguese-Bosque",
    "English-PUD",
    "German-PUD",
)


def syntactic(folder: Path) -> None:
    # The recipe only looks whether they are there: it is not run.
    lists = [f"mt/tatoeba/{code}-eng.tsv" for code in TATOEBA]
    for name in (*lists, *(f"ud/UD_{treebank}/x.conllu" for treebank in TREEBANKS)):
        write(folder / "DIR" / name, ["x"])
    for language, name in (("de", "de_gsd"), ("en", "en_ewt")):
        write_treebank(folder / f"{name}.conllu", language)
        write_treebank(folder / f"{language}_pud.conllu", language, 20)
        write_vectors(folder / f"{language}.vec", language)
    for code, language in (("deu", "de"), ("spa", "es")):
        write_table(folder / f"{code}-eng.tsv", sentences("en"), sentences(language))
    write(folder / "text.txt", sentences("de")[:4])
    (folder / "CHECKPOINT").symlink_to("checkpoints/checkpoint_best.pt")


STAND_INS: dict[str, Callable[[Path], None]] = {
    "first steps": first_steps,
    "corpus": corpus,
    "experiments": experiments,
    "question matching": question_matching,
    "classifier": siamese,
    "encoder": syntactic,
    "translator": translator,
    "recipes": recipes,
}


def clone(folder: Path) -> None:
    """What a reader finds in the clone that a page's commands are typed in; recipes may write beside themselves."""
    shutil.copytree(ROOT / "recipes", folder / "recipes", ignore=shutil.ignore_patterns("records"))
    for name in ("fairseq_xl", "scripts"):
        (folder / name).symlink_to(ROOT / name)
