"""Small good inputs of every group of commands, made by tests/helpers and by the suite's own commands.

Each group has a world: a folder that holds ``in/``, from which every case gets a copy. Command lines are written as
they are typed in that folder.
"""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import docs_data
import experiments
import finished_runs
import forked
import parsers
import playground
import torch

from fuzzing import lines

TRAINING = (
    "--cpu --num-workers 0 --no-progress-bar --seed 1 --optimizer adam --lr 0.02 --batch-size 32 --disable-validation "
    "--required-batch-size-multiple 1 --no-last-checkpoints --no-save-optimizer-state"
)


class World:
    """A folder with ``in/``, and commands that run in it."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.inputs = folder / "in"
        self.inputs.mkdir(parents=True)

    def run(self, line: str) -> None:
        """``fairseq-xl LINE``, or a command of fairseq's. Raises: RuntimeError: it fails."""
        words = shlex.split(line)
        own = not words[0].startswith("fairseq-")
        module = "fairseq_xl.cli.main" if own else words.pop(0).replace("fairseq-", "fairseq_cli.")
        done = forked.run(module, *words, folder=self.folder)
        if done.returncode:
            raise RuntimeError(f"{line}\nended with {done.returncode}:\n{done.stdout[-500:]}\n{done.stderr[-2000:]}")

    def good(self, **names: str) -> None:
        """Good files of parsers: ``a__txt="lines"`` writes in/a.txt with what that parser reads."""
        for name, parser in names.items():
            (self.inputs / name.replace("__", ".")).write_bytes(parsers.PARSERS[parser].good)

    def text(self, name: str, *lines: str) -> None:
        docs_data.write(self.inputs / name, lines)

    def train(self, line: str, *saved: str) -> None:
        """Two epochs. Their checkpoints become in/NAME, in order; of one NAME, the last."""
        self.run(f"fairseq-train {line} {TRAINING} --max-epoch 2 --save-dir saved")
        for number, name in zip((2,) if len(saved) == 1 else (1, 2), saved, strict=True):
            (self.folder / "saved" / f"checkpoint{number}.pt").replace(self.inputs / name)
        shutil.rmtree(self.folder / "saved")


def data(world: World) -> None:
    """Texts, and what the commands of ``data`` make of them."""
    docs_data.parallel_text(world.inputs, "de", "en")
    for language in ("de", "en"):
        world.text(f"raw.{language}", *docs_data.sentences(language)[:60])
    world.good(
        talks__xml="a campaign's XML",
        tags__en="a campaign's tagged text",
        pairs__tsv="sentence pairs",
        archive__tar__gz="a tar archive",
        archive__zip="a zip archive",
        lexicon__tsv="a lexicon",
        log="a generation log",
    )
    docs_data.write_table(
        world.inputs / "pairs.tsv", docs_data.sentences("en")[:60], docs_data.sentences("de")[:60], ["CC"] * 60
    )
    docs_data.write_vectors(world.inputs / "en.vec", "en")
    world.text("dict.txt", "dog 2", "man 1")
    world.text("two.de", "ein hund", "die katze")
    world.text("links", *["0-0 1-1 2-2"] * 160)
    world.run("data train-truecaser in/train.en -o in/truecaser")
    world.run("data train-subwords in/train.de in/train.en -o in/pieces.model --size 60")
    world.run("data encode-subwords in/train.en -m in/pieces.model -o in/pieces.en")


def vectors(world: World) -> None:
    """Tables of word vectors in every format, and dictionaries."""
    docs_data.parallel_text(world.inputs, "de", "en")
    for language in ("de", "en"):
        docs_data.write_vectors(world.inputs / f"{language}.vec", language)
    world.run("vectors train in/train.en -o in/trained --dim 8 --buckets 100 --min-count 1 --epoch 1 --threads 1")
    world.run("vectors convert in/en.vec -o in/array.npy")
    words = sorted({word for line in docs_data.tokens("en") for word in line.split()})
    world.text("dict.txt", *(f"{word} {number}" for number, word in enumerate(words, 1)))
    world.text("words", *words)
    de, en = (docs_data.tokens(language) for language in ("de", "en"))
    pairs = {pair for lines in zip(de, en, strict=True) for pair in zip(*map(str.split, lines), strict=False)}
    world.text("muse.txt", *map(" ".join, sorted(pairs)))


def translate(world: World) -> None:
    """Two checkpoints of a continuous model, one of a softmax, and a packed model."""
    docs_data.parallel_text(world.inputs, "de", "en")
    docs_data.write_vectors(world.inputs / "en.vec", "en")
    docs_data.write_table(world.inputs / "lexicon.tsv", ("hund", "baum"), ("dog", "tree"), (0.9, 0.8))
    world.run(
        "fairseq-preprocess -s de -t en --trainpref in/train --validpref in/valid --testpref in/test --destdir in/bin"
    )
    model = "in/bin --task translation --arch continuous_lstm_tiny --max-tokens 400"
    world.train(f"{model} --target-vectors in/en.vec --criterion syn_margin_proj", "one.pt", "two.pt")
    world.train(f"{model} --decoder-output softmax --criterion cross_entropy", "softmax.pt")
    world.run("translate pack in/two.pt --data in/bin -s de -t en -o in/model --tokenizer none")
    transformer = "in/bin --task translation --arch continuous_transformer_tiny --max-tokens 400"
    world.train(f"{transformer} --target-vectors in/en.vec --criterion vmf_posterior", "transformer.pt")
    packed = "--data in/bin -s de -t en -o in/transformer --tokenizer none --decode-score vmf_posterior"
    world.run(f"translate pack in/transformer.pt {packed} --decode-csls-weight 0")


def embed(world: World) -> None:
    """Treebanks, a tagged corpus, evaluation sets, a data directory, and an encoder that is trained on it."""
    for language in ("de", "en"):
        docs_data.write_treebank(world.inputs / f"{language}.conllu", language)
        docs_data.write_vectors(world.inputs / f"{language}.vec", language)
    docs_data.write_table(world.inputs / "de-en.tsv", docs_data.sentences("de"), docs_data.sentences("en"))
    world.text("text.txt", *docs_data.sentences("de")[:8])
    world.text("moses.de", *docs_data.sentences("de")[:40])
    world.text("moses.en", *docs_data.sentences("en")[:40])
    docs_data.write_table(
        world.inputs / "sentences.csv", (1, 2), ("eng", "deu"), ("A red dog runs.", "Ein Hund rennt los.")
    )
    docs_data.write_table(world.inputs / "links.csv", (1, 2), (2, 1))
    text = "--corpus in/corpus.sqlite --pairs de-en=in/de-en.tsv --tagger de=in/de.conllu en=in/en.conllu"
    world.run(f"embed prepare -o in/data {text} --until tag")
    world.run("embed build-eval in/corpus.sqlite -o in/eval --one-in 1 --groups 3")
    world.run(f"embed prepare -o in/data {text} --vocabulary 100")
    world.train("in/data --task upos_translation --arch upos_lstm_tiny --criterion upos_cross_entropy", "model.pt")
    world.run("embed pack in/model.pt -o in/encoder")
    encoders = "length ours=in/model.pt words=vectors:in/{lang}.vec"
    world.run(f"embed evaluate {encoders} --sets in/eval -o in/record --measures nearest")


def classify(world: World) -> None:
    """Labelled text, a data directory, a Siamese encoder and records of predictions."""
    for language in ("es", "en"):
        lines = docs_data.sentences(language)[:90]
        docs_data.write_table(world.inputs / f"{language}.tsv", [("neg", "pos")[n % 2] for n in range(90)], lines)
        world.text(f"{language}.txt", *lines[:12])
        docs_data.write_vectors(world.inputs / f"{language}.vec", language)
    docs_data.write_table(
        world.inputs / "table.csv", ["body", *docs_data.sentences("es")[:40]], ["stars", *"12" * 20], mark=","
    )
    world.run(
        "classify prepare -o in/data --low-resource in/es.tsv --high-resource in/en.tsv --languages es en "
        "--test-share 0.2 --valid-share 0.2"
    )
    world.train("in/data --task siamese_contrastive --arch ssc_bilstm_tiny --criterion contrastive", "model.pt")
    world.run("classify predict in/model.pt --split test -o in/record.json --references 3 --draws 2")
    world.run("classify baseline mnb-h in/data -o in/baseline.json")


def match(world: World) -> None:
    """Pairs of questions, a data directory, two classifiers and records of predictions."""
    docs_data.write_vectors(world.inputs / "words.vec", "es")
    docs_data.write_questions(world.inputs / "train.tsv", 120, header="q1\tq2\tsame")
    docs_data.write_questions(world.inputs / "new.tsv", 10, label=False)
    docs_data.write_table(
        world.inputs / "sts.tsv", docs_data.sentences("es")[:20], docs_data.sentences("es")[10:30], range(20)
    )
    for name, count in (("corpus.txt", 20), ("questions", 3)):
        lines = (world.inputs / "train.tsv").read_text(encoding="utf-8").splitlines()[1 : count + 1]
        world.text(name, *(line.split("\t")[0] for line in lines))
    world.text("stop", "el", "¿dónde")
    world.text("more.tsv", "uno\tdos\t1", "tres\tcuatro\t0")
    world.run("match prepare in/train.tsv,left=q1,right=q2,label=same --folds 2 --vectors in/words.vec -o in/data")
    shared = "in/data --task pair_classification --criterion pair_classification --fold 0"
    world.train(f"{shared} --arch esim --hidden-dim 8", "model.pt")
    world.train(f"{shared} --arch siamese_lstm --hidden-dim 8", "siamese.pt")
    for name in ("model", "siamese"):
        world.run(f"match predict in/{name}.pt --split fold -o in/{name}.json")
    world.run("match calibrate in/model.json -o in/calibration.json")
    world.run("match baseline tfidf in/data --fold 1 -o in/other.json")


def corpus(world: World) -> None:
    """A manual and a site in folders; translations; projects: a new, a half done and a done one."""
    for language, said in (("en", "Choose a name. Press the key."), ("fr", "Choisissez un nom. Pressez la touche.")):
        (world.inputs / "manual" / language).mkdir(parents=True)
        world.text(f"manual/{language}/open.html", f'<html><body><p id="a">{said}</p></body></html>')
        path = world.inputs / "manual" / language / "more.html"
        path.write_text("".join(f"<p id=p{n}>{language} says {n}</p>" for n in range(4)), encoding="utf-8")
    docs_data.corpus(world.inputs)
    for page in range(24, 32):
        for language in ("en", "fr"):
            (world.inputs / "site" / language / f"{page}.html").unlink()
    world.good(gold="gold beads")
    world.text("a.en", *docs_data.sentences("en")[:3])
    world.text("b.fr", *docs_data.sentences("fr")[:3])
    said = docs_data.sentences("en")[:40]
    world.text("pivot.tsv", *(f"{sentence}\tphrase {number // 2}" for number, sentence in enumerate(said)))
    for name in ("new", "half", "done"):
        world.run(f"corpus init --project in/{name} --languages en fr --base in/site")
        path = world.inputs / name / "corpus.yaml"
        settings = path.read_text(encoding="utf-8").replace(str(world.inputs.resolve() / "site"), "../site")
        path.write_text(settings, encoding="utf-8")
    for name, last in (("half", "align"), ("done", "export")):
        world.run(f"corpus run --project in/{name} --last {last} {lines.CORPUS}")


def experiment(world: World) -> None:
    """An experiment's file with a recipe that does nothing, and the finished runs of another experiment."""
    playground.Playground(world.inputs)
    (world.inputs / "recipe.sh").write_text(playground.RECIPE.replace('echo "$*" >>"$here/calls"\n', ""))
    history = [{"num_updates": 10, "optimizer_name": "adam", "lr_scheduler_state": {}}]
    saved = {"model": {}, "optimizer_history": history, "extra_state": {}, "cfg": {"common": {"seed": 1}}}
    torch.save(saved, world.inputs / "best.pt")
    out, systems = world.inputs / "out", {"ce.seed1": ("ce", 1), "vmf.seed1": ("vmf", 1)}
    for name in systems:
        run = finished_runs.write(out, name)
        for beam in (1, 5):
            metrics = [{"name": "BLEU", "score": 30.0 + beam, "signature": finished_runs.SIGNATURES["BLEU"]}]
            docs_data.write(run / f"score.beam{beam}.json", [json.dumps(metrics)])
        (run / "checkpoints").mkdir()
        shutil.copy(world.inputs / "best.pt", run / "checkpoints" / "checkpoint_best.pt")
    experiments.write_state(out, systems, {"ce": "softmax", "vmf": "vMF"}, "ce")


WORLDS: dict[str, Callable[[World], None]] = {
    made.__name__: made for made in (data, vectors, translate, embed, classify, match, corpus, experiment)
}


def make(group: str, folder: Path) -> Path:
    """The world of a group of commands, made in a folder; of a command without a group, an empty one."""
    world = World(folder / group)
    if group in WORLDS:
        WORLDS[group](world)
    return world.folder
