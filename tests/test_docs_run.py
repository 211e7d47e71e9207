"""Every code block of README.md and docs/ runs as it is printed.

Pages that build on each other run together. Their blocks run in order, in one shell, in a folder that has the clone's
recipes and small files under the names that the pages use (docs_data.py). What is not as a reader has it stands in the
tables here.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import docs_data
import pytest
from doc_pages import DOCS, NOT_HERE, PAGES, ROOT, Block, blocks, blocks_of, name_of
from forkserver import COMMANDS, Server

# What is added to a command that has these words, so that it takes seconds: sizes, lengths, less data. Nothing else.
TRAINING = ("fairseq-train", "--cpu --num-workers 0 --max-update 2")
SMALL = "--encoder-embed-dim 8 --encoder-hidden-dim 8 --decoder-hidden-dim 8"
VECTORS = ("fairseq-xl vectors train", "--dim 8 --buckets 100 --epoch 1 --threads 1")
HYDRA = (
    "common.cpu=true optimization.max_update=2 +model.encoder_embed_dim=8 "
    "+model.encoder_hidden_dim=8 +model.decoder_hidden_dim=8"
)
# Pages whose blocks run in one folder, one page after the other. A page without blocks is in none.
RUNS = {
    "first steps": (
        *("README.md", "how-to/install.md", "reference/command-line.md", "explanation/architecture.md"),
        *("tutorials/own-loss.md", "how-to/hydra.md", "how-to/several-gpus.md", "how-to/python.md"),
        *("how-to/pytorch.md", "how-to/train-faster.md"),
    ),
    "translator": ("tutorials/translator.md", "how-to/target-vectors.md"),
    "recipes": ("how-to/recipes.md", "how-to/export.md"),
    "experiments": ("how-to/experiments.md", "how-to/slurm.md"),
    "encoder": ("tutorials/encoder.md",),
    "classifier": ("tutorials/classifier.md",),
    "question matching": ("tutorials/question-matching.md",),
    "corpus": ("tutorials/website-to-corpus.md",),
}
SMALLER = {
    "first steps": (TRAINING, ("fairseq-train continuous_lstm", SMALL), ("fairseq-hydra-train", HYDRA)),
    "corpus": (
        # A folder takes the site's place; it has few words and pages.
        (
            "fairseq-xl corpus run",
            "--set crawl.base=[../site] topics.passes=20 topics.fewest=2 topics.most=2 "
            "negatives.low=-1 negatives.high=1 negatives.folds=2 negatives.max_page_share=1",
        ),
        ("fairseq-xl corpus paraphrases", "--low -1 --overlap 1"),
    ),
    "experiments": (
        ("fairseq-xl experiment run multi30k-de-en.yaml", "--only stock"),  # one of all cells
        TRAINING,
    ),
    "question matching": (
        ("fairseq-xl experiment run question-matching.yaml", "--only constant tfidf"),
        TRAINING,
        ("fairseq-train esim", "--hidden-dim 8"),
        VECTORS,
    ),
    "classifier": (("fairseq-xl experiment run sentiment.yaml", "--only svm mnb-h"), TRAINING, VECTORS),
    "encoder": (
        ("fairseq-xl embed train-tagger", "--epochs 1"),
        ("fairseq-xl embed prepare", "--vocabulary 120"),
        TRAINING,
    ),
    "translator": (TRAINING, ("fairseq-train continuous_lstm", SMALL), VECTORS),
    "recipes": (
        # Three recipes in one block: from training on they are the same.
        ("bash recipes/iwslt16.sh", "--prepare-only"),
        ("bash recipes/tatoeba.sh", "--prepare-only --held-out 8"),
        TRAINING,
        VECTORS,
    ),
}

# Blocks that are not carried out: why. Their recipes print what they would do, scripts are checked for their syntax,
# other commands' words are put through their parsers.
NOT_RUN = {
    """\
bash recipes/quickstart.sh    # installs into .venv and runs the main job on a small generated corpus
bash scripts/test.sh          # adds what tests need, checks style and types and runs every test
""": "installs, and runs these tests; recipes/test_quickstart.py runs the first without installing",
    """\
bash recipes/train.sh --train pairs --src de --tgt en --out OUT
""": "20,000 pairs, of which the test has a few; recipes/test_train.py runs it with stand-ins",
    """\
fairseq-xl translate text OUT/runs/de-en.syn_margin_proj.continuous_lstm.256.seed1/model \\
    --input new.de --output new.en
""": "what the block before it leaves",
    """\
fairseq-xl translate pack checkpoints/checkpoint_best.pt --data data-bin -s de -t en --output MODEL \\
    --licence cc-by-4.0 --dataset "Tatoeba, German and English" --record OUT/runs/NAME/record.json
""": "the record of that block",
    """\
# 4 epochs of a softmax, and 4 of the loss.
bash recipes/train.sh --train pairs --src de --tgt en --out OUT --loss combined --target-epochs 4 --warm-start \\
    --subwords 4000 --search lenpen=1.25 -- --main-options label_smoothing=0.05    # of the likelihood.
""": "20,000 pairs again; recipes/test_multi30k.py has short softmaxes",
    """\
bash recipes/multi30k.sh --out OUT --name lstm
fairseq-xl translate export OUT/runs/lstm/model --format onnx --output ONNX
""": "an LSTM's model; translation/exported/test_onnx_export.py does it",
    """\
torchrun --nnodes 2 --nproc-per-node 4 --rdzv-backend c10d --rdzv-endpoint HOST:29500 \\
    "$(command -v fairseq-train)" "${training[@]}" --distributed-world-size 8
""": "two machines, GPUs",
    """\
training=(DATA --user-dir "$(fairseq-xl user-dir)" --arch continuous_lstm --criterion syn_margin_proj
    --target-vectors en.vec --optimizer adam --lr 2e-3 --clip-norm 1 --lr-scheduler fixed
    --warmup-updates 200 --force-anneal 8 --lr-shrink 0.6 --max-tokens 1000 --max-epoch 16
    --save-dir checkpoints/connected)
srun --nodes 2 --ntasks-per-node 4 --gpus-per-node 4 \\
    fairseq-train "${training[@]}" --distributed-world-size 8 --distributed-port 29500
""": "a cluster",
    """\
export RAY_AUTH_MODE=token    # ray get-auth-token --generate makes one: copy it to each machine
ray start --head --port 6379      # on the first machine
ray start --address HEAD:6379     # on each of the others
RAY_ADDRESS=HEAD:6379 fairseq-xl embed tag text.de -l de --tagger taggers/de --ray -o text.tags
""": "several machines; syntactic/tagging/test_tagging.py has a Ray cluster of two nodes",
    """\
fairseq-xl experiment run recipes/experiments/multi30k-de-en.yaml --output OUT --set data=DIR mono=FILE \\
    --launcher slurm --slurm slurm_partition=gpu gpus_per_node=1 timeout_min=600
""": "a cluster",
    """\
bash recipes/semantic_similarity.sh --out OUT --languages 'en fr es' --base https://example.org/ --paraphrases FILE
""": "crawls a site, and trains forty models",
    """\
bash recipes/semantic_similarity.sh --out OUT --languages 'en fr es' --partition fr.government=https://example.org/ \\
    --partition fr.banking=https://example.com/ --partition es.banking=https://example.net/
""": "crawls three sites, and trains forty models",
    """\
bash recipes/syntactic.sh --out OUT --data DIR
""": "trains eight taggers and ten encoders; the page's other blocks are its steps",
}

# Those of NOT_RUN that print no commands when they are asked to.
NO_DRY_RUN = ("recipes/quickstart.sh", "recipes/train.sh", "scripts/test.sh")

LAYOUT = "pyproject.toml      metadata, extras, the console command fairseq-xl, settings of the tools; setup.py asks it"
"""The first line of the block that draws the repository's folders."""

# Blocks that are no code, by their first lines.
PICTURES = (
    "recipes/*.sh                                  shell: stages around fairseq's commands and fairseq-xl",
    LAYOUT,
)

# Blocks that are a file, by a line of theirs: its name, and what is done with it.
FILES = {
    "class AngleConfig(ContinuousCriterionConfig):": (
        "my_losses/__init__.py",
        "fairseq-train DATA --user-dir my_losses --task translation --arch continuous_lstm --target-vectors en.vec "
        "--criterion angle --power 1.5 --optimizer adam --lr 0.01 --max-tokens 500 --log-format json --save-dir own "
        ">own.log 2>&1; grep -q valid_accuracy own.log; grep -q valid_cosine own.log",
    ),
    "class MeanEncoder(nn.Module):": (
        "my_encoders/__init__.py",
        "fairseq-train DATA --user-dir my_encoders --task siamese_contrastive --arch ssc_mean --criterion contrastive "
        "--optimizer adam --lr 0.01 --batch-size 64 --log-format json --save-dir own",
    ),
}

# What some pages' commands need to have been done before, in their folder.
DIRECTORY = "fairseq-preprocess -s de -t en --trainpref {0}train --validpref {0}valid --destdir {1}\n"
TRAINED = "--user-dir fairseq_xl --optimizer adam --batch-size 64"
BEFORE = {
    "first steps": DIRECTORY.format("text/", "DATA") + "cp -r DATA data-bin\n"
    f"fairseq-train DATA {TRAINED} --task translation --arch continuous_lstm --criterion cosine "
    "--target-vectors en.vec --save-dir own-model\n"
    "fairseq-xl translate pack own-model/checkpoint_best.pt --data DATA -s de -t en -o MODEL\n"
    "fairseq-xl classify prepare -o labelled --low-resource low.tsv --languages de\n"
    f"fairseq-train labelled {TRAINED} --task siamese_contrastive --arch ssc_bilstm --criterion contrastive "
    "--save-dir own-encoder\n"
    "fairseq-xl embed pack own-encoder/checkpoint_best.pt -o ENCODER\n",
    "question matching": "fairseq-xl match prepare -o before train.tsv,left=q1,right=q2,label=same --folds 2 "
    "--vectors words.vec\n"
    f"fairseq-train before {TRAINED} --task pair_classification --arch siamese_lstm --fold 0 --criterion "
    "pair_classification --save-dir siamese\n"
    "ln -s siamese/checkpoint_best.pt SIAMESE\n",
}

# What must be there, and not empty, when the blocks have run.
LEFT = {
    "first steps": ["checkpoints/checkpoint_best.pt", "checkpoints/hydra/*_last.pt", "checkpoints/connected/*_last.pt"],
    "corpus": ["DIR/export/train.tsv", "DIR/export/README.md", "FOLDER/train.tsv", "FOLDER/test.tsv"],
    "experiments": ["OUT/report/index.html"],
    "question matching": ["OUT/runs/*/record.json", "OUT/report/scores.md", "c.json"],
    "classifier": ["OUT/sentiment/runs/*/record.json", "OUT/emoji/runs/*/record.json", "OUT/report/scores.md"],
    "encoder": ["X.npy", "encoder.onnx", "OUT/evaluation.md", "EVAL/en.tsv"],
    "translator": ["out.en", "MODEL/translator.json"],
    "recipes": ["out.en", "OUT/runs/*/record.json", "OUT/prepared/fr-en/bin/dict.en.txt", "NEW/folding.npz"],
}

HELPERS = Path(__file__).resolve().parent / "helpers"
HERE = [page for page in PAGES if name_of(page) not in NOT_HERE]
ALL = [block for page in HERE for block in blocks(page)]


class Pages:
    """Some pages' blocks as one script, which says before each block which one begins."""

    def __init__(self, name: str, folder: Path, forks: Server) -> None:
        self.name, self.folder, self.notes = name, folder, folder / "notes"
        docs_data.clone(folder)
        docs_data.STAND_INS[name](folder)
        commands = folder / ".venv" / "bin"
        commands.mkdir(parents=True)
        for name in (*COMMANDS, "bash", "srun", "ray"):
            command = commands / name
            command.write_text(  # torchrun starts it as a file of Python
                f"#!{sys.executable} -ISs\nimport sys\nsys.path.append({str(HELPERS)!r})\n"
                f"import docs_command\nsys.exit(docs_command.main([{name!r}, *sys.argv[1:]]))\n"
            )
            command.chmod(0o755)
        self.environment = forks.environment()
        del self.environment["FAIRSEQ_XL_VENV"]  # recipes find the folder's .venv
        others = self.environment["PATH"]
        settings = {
            "smaller": SMALLER[self.name],
            "commands": str(forks.folder),
            "others": others,
            "notes": str(self.notes),
            "no_dry_run": NO_DRY_RUN,
        }
        (folder / "settings").write_text(json.dumps(settings))
        self.environment.update(
            PATH=f"{commands}:{others}", DOCS_SETTINGS=str(folder / "settings"), CUDA_VISIBLE_DEVICES=""
        )

    def run(self) -> str:
        """What the blocks say; they must all succeed."""
        script = ["set -eo pipefail", BEFORE.get(self.name, "")]
        pages = (ROOT / page if page == "README.md" else DOCS / page for page in RUNS[self.name])
        for number, block in enumerate(block for page in pages for block in blocks(page)):
            script += [f"echo '== {block.where}'", *self.steps(number, block)]
        done = subprocess.run(
            ["/bin/bash", "-c", "\n".join(script)],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=1800,
        )
        last = [line for line in done.stdout.splitlines() if line.startswith("== ")][-1:]
        assert done.returncode == 0, f"{last} ended with {done.returncode}:\n{done.stdout[-5000:]}"
        return done.stdout

    def steps(self, number: int, block: Block) -> list[str]:
        """The lines of the script that run a block."""
        path = self.folder / f"block{number}.{block.kind}"
        path.write_text(block.text, encoding="utf-8")
        if block.kind == "sh":
            run = f". ./{path.name}"
            return ["export DOCS_ONLY_READ=yes", run, "unset DOCS_ONLY_READ"] if block.text in NOT_RUN else [run]
        if block.kind == "python":
            for line, (name, use) in FILES.items():
                if line in block.text:
                    (self.folder / name).parent.mkdir()
                    path.rename(self.folder / name)
                    return [use]
            return [f"python-script {shlex.quote(str(HELPERS / 'docs_example.py'))} {path.name}"]
        if block.kind == "yaml":
            table = self.folder / "recipes" / "experiments" / "my-table.yaml"  # its relative names lead from there
            path.rename(table)
            return [
                "fairseq-xl experiment run recipes/experiments/my-table.yaml --output my-table --dry-run >planned",
                r"sed 's/ -- / --dry-run -- /;t;s/$/ --dry-run/' planned | bash",
            ]
        assert block.text.split("\n")[0] in PICTURES
        return []

    def noted(self) -> list[dict]:
        return [json.loads(line) for line in self.notes.read_text().splitlines()] if self.notes.exists() else []


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_the_blocks_of_pages_run(name, forks, tmp_path, monkeypatch):
    run = Pages(name, tmp_path, forks)
    said = run.run()
    used, read = set(), [shlex.split(line) for line in said.splitlines() if line.startswith(("fairseq-", "bash "))]
    for note in run.noted():
        if "smaller" in note:
            used.add(note["smaller"])
            continue
        # Not every failure ends a shell: some stand before && or in a pipe.
        assert note["status"] == 0, f"{note['words']} ended with {note['status']}:\n{said[-5000:]}"
        read.append(note["words"])
    assert used == set(range(len(SMALLER[name]))), "rows of SMALLER that are for nothing"
    monkeypatch.chdir(tmp_path)
    for words in read:
        check_words(words)
    for pattern in LEFT[name]:
        found = list(tmp_path.glob(pattern))
        assert found, f"{name} left no {pattern}"
        assert all(path.stat().st_size for path in found)


def check_words(words: list[str]) -> None:
    """What was not carried out has the words that its command takes."""
    from fairseq import options
    from torch.distributed.run import get_args_parser

    import fairseq_xl
    from fairseq_xl.cli import main as cli
    from fairseq_xl.cli import parsing

    program, given = Path(words[0]).name, words[1:]
    if program == "torchrun":
        launched = get_args_parser().parse_args(given)
        check_words([launched.training_script, *launched.training_script_args])
    elif program == "srun":
        check_words(given[given.index("fairseq-train") :])
    elif program == "ray":
        assert given[0] == "start"  # Ray is no package of the tests
    elif program in ("fairseq-train", "fairseq-generate"):
        fairseq_xl.register()
        if "--user-dir" in given:  # is imported already
            place = given.index("--user-dir")
            del given[place : place + 2]
        training = program == "fairseq-train"
        parser = options.get_training_parser() if training else options.get_generation_parser()
        options.parse_args_and_arch(parser, given)
    elif program == "fairseq-preprocess":
        options.get_preprocessing_parser().parse_args(given)
    elif program == "fairseq-xl":
        _, found, rest = cli.find(given)
        parsing.parse(argparse.ArgumentParser(), found, rest)
    else:
        assert program == "bash", f"no parser for {program}"


def test_every_block_is_of_a_kind_that_runs():
    for block in ALL:
        assert block.kind in ("sh", "python", "yaml", "text"), f"{block.where}: say in which language it is"
        if block.kind == "text":
            assert block.text.split("\n")[0] in PICTURES, f"{block.where}: what is no code stands in PICTURES"


def test_every_row_of_the_tables_is_of_one_block():
    for text in NOT_RUN:
        assert [block.text for block in ALL].count(text) >= 1, text
    for first in PICTURES:
        assert [block.text.split("\n")[0] for block in ALL].count(first) == 1, first
    for line in FILES:
        assert [line in block.text.split("\n") for block in ALL].count(True) == 1, line
    for script in NO_DRY_RUN:
        assert any(script in text for text in NOT_RUN), script
    assert SMALLER.keys() == LEFT.keys() == docs_data.STAND_INS.keys() == RUNS.keys()
    assert BEFORE.keys() <= RUNS.keys()


def test_every_page_with_blocks_runs_once():
    run = [page for pages in RUNS.values() for page in pages]
    assert sorted(run) == sorted(name_of(page) for page in HERE if blocks(page))


def test_blocks_are_found():
    text = "A\n\n    one \\\n        two\n\nB\n\n```python\nthree\n\n    four\n```\n    no block\n\n    five\n"
    assert [(block.line, block.kind, block.text) for block in blocks_of(text, "x")] == [
        (3, "sh", "one \\\n    two\n"),
        (8, "python", "three\n\n    four\n"),
        (15, "sh", "five\n"),
    ]


def test_the_layout_names_what_is_there():
    (layout,) = [block.text for block in ALL if block.text.startswith(LAYOUT)]
    folder = ROOT
    for line in layout.splitlines():
        indent = len(line) - len(line.lstrip())
        if line.startswith("fairseq_xl/"):
            folder = ROOT / "fairseq_xl"
        elif indent == 0:
            folder = ROOT
        if indent in (0, 2):
            names = re.match(r"[^\s,]+(, [^\s,]+)*", line.strip())[0].split(", ")
            for name in names:
                assert (folder / name if indent else ROOT / name).exists(), line
