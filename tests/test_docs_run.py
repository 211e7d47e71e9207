"""Every code block of README.md and the guides runs as it is printed.

A page's blocks run in order, in one shell, in a folder that has the clone's recipes and small files under the names
that the page uses (docs_data.py). What is not as a reader has it stands in the tables here.
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
from docs import ROOT, RUN_HERE, Block, blocks, blocks_of
from forkserver import COMMANDS, Server

# What is added to a command that has these words, so that it takes seconds: sizes, lengths, less data. Nothing else.
TRAINING = ("fairseq-train", "--cpu --num-workers 0 --max-update 2")
SMALL = "--encoder-embed-dim 8 --encoder-hidden-dim 8 --decoder-hidden-dim 8"
VECTORS = ("fairseq-xl vectors train", "--dim 8 --buckets 100 --epoch 1 --threads 1")
SMALLER = {
    "README.md": (
        TRAINING,
        ("fairseq-train continuous_lstm", SMALL),
        (
            "fairseq-hydra-train",
            "common.cpu=true optimization.max_update=2 +model.encoder_embed_dim=8 "
            "+model.encoder_hidden_dim=8 +model.decoder_hidden_dim=8",
        ),
    ),
    "corpus.md": (
        # A folder takes the site's place; it has few words and pages.
        (
            "fairseq-xl corpus run",
            "--set crawl.base=[../site] topics.passes=20 topics.fewest=2 topics.most=2 "
            "negatives.low=-1 negatives.high=1 negatives.folds=2 negatives.max_page_share=1",
        ),
    ),
    "experiments.md": (
        ("fairseq-xl experiment run multi30k-de-en.yaml", "--only stock"),  # one of 22 cells
        TRAINING,
    ),
    "pytorch.md": (),
    "question_matching.md": (TRAINING, ("fairseq-train esim", "--hidden-dim 8"), VECTORS),
    "siamese.md": (TRAINING,),
    "speed.md": (),
    "syntactic.md": (
        ("fairseq-xl embed train-tagger", "--epochs 1"),
        ("fairseq-xl embed prepare", "--vocabulary 120"),
        TRAINING,
    ),
    "translation.md": (
        # Three recipes in one block: from training on they are the same.
        ("bash recipes/iwslt16.sh", "--prepare-only"),
        ("bash recipes/tatoeba.sh", "--prepare-only --held-out 8"),
        TRAINING,
        ("fairseq-train continuous_lstm", SMALL),
        VECTORS,
    ),
}

# Blocks that are not carried out: why. Their recipes print what they would do, scripts are checked for their syntax,
# other commands' words are put through their parsers.
NOT_RUN = {
    """\
bash recipes/quickstart.sh    # installs into .venv and runs the main job on a small generated corpus
bash scripts/test.sh          # reuses the environment, checks style and types and runs every test
""": "installs, and runs these tests; recipes/test_quickstart.py runs the first without installing",
    """\
torchrun --nnodes 2 --nproc-per-node 4 --rdzv-backend c10d --rdzv-endpoint HOST:29500 \\
    "$(command -v fairseq-train)" "${training[@]}" --distributed-world-size 8
srun --nodes 2 --ntasks-per-node 4 --gpus-per-node 4 \\
    fairseq-train "${training[@]}" --distributed-world-size 8 --distributed-port 29500
""": "two machines, GPUs, a cluster",
    """\
bash recipes/semantic_similarity.sh --out OUT --languages 'en fr es' --base https://example.org/ --paraphrases FILE
""": "crawls a site, and trains forty models",
    """\
bash recipes/syntactic.sh --out OUT --data DIR
""": "trains eight taggers and ten encoders; the page's other blocks are its steps",
}

# Those of NOT_RUN that print no commands when they are asked to.
NO_DRY_RUN = ("recipes/quickstart.sh", "scripts/test.sh")

# Blocks that are no code, by their first lines.
PICTURES = (
    "text, vectors, web pages",
    "cli                                           every command and its options",
    "pyproject.toml      metadata, extras, the console command fairseq-xl, settings of the tools; setup.py asks it",
)

# Blocks that are a file, by a line of theirs: its name, and what is done with it.
FILES = {
    "class AngleConfig(ContinuousCriterionConfig):": (
        "my_losses/__init__.py",
        "fairseq-train DATA --user-dir my_losses --task translation --arch continuous_lstm --target-vectors en.vec "
        "--criterion angle --power 1.5 --optimizer adam --lr 0.01 --max-tokens 500 --log-format json --save-dir own "
        ">own.log 2>&1; grep -q valid_accuracy own.log; grep -q valid_cosine own.log",
    )
}

# What a page's commands need to have been done before, in its folder.
BEFORE = {
    "README.md": "fairseq-preprocess -s de -t en --trainpref text/train --validpref text/valid --destdir DATA\n"
    "cp -r DATA data-bin\n",
    "question_matching.md": "fairseq-xl match prepare before train.tsv,left=q1,right=q2,label=same --folds 2 "
    "--vectors words.vec\n"
    "fairseq-train before --user-dir fairseq_xl --task siamese_matching --arch siamese_lstm --fold 0 --criterion "
    "pair_classification --optimizer adam --batch-size 64 --save-dir siamese\n"
    "ln -s siamese/checkpoint_best.pt SIAMESE\n",
    "translation.md": "fairseq-preprocess -s de -t en --trainpref train --validpref valid --testpref test "
    "--destdir data-bin\n",
}

# What must be there, and not empty, when a page's blocks have run.
LEFT = {
    "README.md": ["checkpoints/checkpoint_best.pt", "checkpoints/hydra/*_last.pt", "checkpoints/connected/*_last.pt"],
    "corpus.md": ["DIR/export/train.tsv", "DIR/export/README.md"],
    "experiments.md": ["OUT/report/index.html"],
    "pytorch.md": [],
    "question_matching.md": ["OUT/runs/*/test.json", "OUT/report/scores.md", "c.json"],
    "siamese.md": ["OUT/sentiment/runs/*/record.json", "OUT/emoji/runs/*/record.json", "OUT/report/scores.md"],
    "speed.md": [],
    "syntactic.md": ["X.npy", "encoder.onnx", "OUT/evaluation.md", "EVAL/en.tsv"],
    "translation.md": ["out.en", "OUT/runs/*/record.json", "OUT/prepared/fr-en/bin/dict.en.txt"],
}

HELPERS = Path(__file__).resolve().parent / "helpers"
ALL = [block for page in RUN_HERE for block in blocks(page)]


class Page:
    """A page's blocks as one script, which says before each block which one begins."""

    def __init__(self, page: Path, folder: Path, forks: Server) -> None:
        self.page, self.folder, self.notes = page, folder, folder / "notes"
        docs_data.clone(folder)
        docs_data.STAND_INS[page.name](folder)
        commands = folder / ".venv" / "bin"
        commands.mkdir(parents=True)
        for name in (*COMMANDS, "bash", "srun"):
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
            "smaller": SMALLER[page.name],
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
        script = ["set -eo pipefail", BEFORE.get(self.page.name, "")]
        for number, block in enumerate(blocks(self.page)):
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
        last = [line for line in done.stdout.splitlines() if line.startswith(f"== {self.page.name}, ")][-1:]
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
@pytest.mark.parametrize("page", RUN_HERE, ids=lambda page: page.name)
def test_the_blocks_of_a_page_run(page, forks, tmp_path, monkeypatch):
    run = Page(page, tmp_path, forks)
    said = run.run()
    used, read = set(), [shlex.split(line) for line in said.splitlines() if line.startswith(("fairseq-", "bash "))]
    for note in run.noted():
        if "smaller" in note:
            used.add(note["smaller"])
            continue
        # Not every failure ends a shell: some stand before && or in a pipe.
        assert note["status"] == 0, f"{note['words']} ended with {note['status']}:\n{said[-5000:]}"
        read.append(note["words"])
    assert used == set(range(len(SMALLER[page.name]))), "rows of SMALLER that are for nothing"
    monkeypatch.chdir(tmp_path)
    for words in read:
        check_words(words)
    for pattern in LEFT[page.name]:
        found = list(tmp_path.glob(pattern))
        assert found, f"{page.name} left no {pattern}"
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
        assert [block.text for block in ALL].count(text) == 1, text
    for first in PICTURES:
        assert [block.text.split("\n")[0] for block in ALL].count(first) == 1, first
    for line in FILES:
        assert [line in block.text.split("\n") for block in ALL].count(True) == 1, line
    for script in NO_DRY_RUN:
        assert any(script in text for text in NOT_RUN), script
    names = {page.name for page in RUN_HERE}
    assert SMALLER.keys() == LEFT.keys() == docs_data.STAND_INS.keys() == names
    assert BEFORE.keys() <= names


def test_blocks_are_found():
    text = "A\n\n    one \\\n        two\n\nB\n\n```python\nthree\n\n    four\n```\n    no block\n\n    five\n"
    assert [(block.line, block.kind, block.text) for block in blocks_of(text, "x")] == [
        (3, "sh", "one \\\n    two\n"),
        (8, "python", "three\n\n    four\n"),
        (15, "sh", "five\n"),
    ]


def test_the_layout_names_what_is_there():
    (layout,) = [block.text for block in ALL if block.text.startswith(PICTURES[2])]
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
