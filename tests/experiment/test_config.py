"""What an experiment's file means, and what is said of one that is wrong."""

import re
from pathlib import Path

import pytest

from fairseq_xl.experiment.config import ENCODERS, PATHS, RESERVED, load
from fairseq_xl.io.errors import InputError

RECIPES = Path(__file__).resolve().parents[2] / "recipes"


def test_cells_are_systems_by_seeds(playground):
    experiment = load(playground.config)
    assert [cell.name for cell in experiment.cells] == ["vmf.seed3", "cosine.seed1", "cosine.seed2"]
    assert experiment.labels == {"vmf": "vmf", "cosine": "cosine"}
    cell = experiment.cells[0]
    recipe = str(playground.folder / "recipe.sh")
    assert cell.command(playground.out) == [
        "bash",
        recipe,
        "--out",
        str(playground.out),
        "--name",
        "vmf.seed3",
        "--src",
        "de",
        "--size",
        "8",
        "--loss",
        "vmf",
        "--seed",
        "3",
    ]
    assert cell.preparing_command(playground.out) == [
        "bash",
        recipe,
        "--out",
        str(playground.out),
        "--prepare-only",
        "--src",
        "de",
    ]


def test_own_settings_of_a_system(playground):
    playground.write(
        """
recipe: recipe.sh
name: "{src}.{system}.{size}.{seed}"
options: {src: de, size: 8, data: texts, low-vectors: a.vec, lexicon: en=a.tsv}
fairseq-train: --clip-norm 1
baselines: [plain]
title: A title
systems:
  plain: {loss: vmf, label: "vMF, plain", fairseq-train: "--lambda1 0 --note 'two words'", options: {size: 16}}
"""
    )
    experiment = load(playground.config, ["src=fr"])
    (cell,) = experiment.cells
    assert cell.name == "fr.plain.16.1"
    assert cell.train == ("--clip-norm", "1", "--lambda1", "0", "--note", "two words")
    assert cell.options["data"] == str(playground.folder / "texts"), "found from the file's own folder"
    assert cell.options["low-vectors"] == str(playground.folder / "a.vec")
    assert cell.options["lexicon"] == "en=a.tsv"
    assert cell.command(playground.out)[-7:] == ["--", *cell.train]
    assert experiment.labels == {"plain": "vMF, plain"}
    assert experiment.title == "A title"
    assert experiment.baselines == ["plain"]


def test_flags_and_stock_models(playground):
    playground.write(
        """
recipe: recipe.sh
options: {src: de}
systems:
  vmf: {options: {joint: true, subwords: 500}}
  stock_transformer:
"""
    )
    ours, stock = load(playground.config).cells
    assert ours.command(playground.out)[-7:] == ["--joint", "--subwords", "500", "--loss", "vmf", "--seed", "1"]
    assert ours.preparing_command(playground.out)[-5:] == ["--joint", "--src", "de", "--subwords", "500"]
    assert stock.preparing_command(playground.out)[-4:] == ["--loss", "stock_transformer", "--src", "de"]


def test_classifiers_whose_data_are_their_own(playground):
    playground.write(
        """
recipe: recipe.sh
options: {low-resource: te, updates: 9}
systems:
  siamese: {options: {pretrain: 5}}
  siamese-mono:
  svm: {options: {with-high-resource: "yes"}}
  siamese-control:
  paper:
  paper-mono:
  paper-control:
"""
    )
    cells = load(playground.config).cells
    assert [dict(cell.preparation()).get("loss") for cell in cells] == [
        *[None] * 3,
        "siamese-control",
        *["paper"] * 2,
        "paper-control",
    ]
    assert {cell.preparation() for cell in cells[:3]} == {(("low-resource", "te"),)}


def test_a_baseline_prepares_nothing_by_options_of_encoders(playground):
    playground.write(
        "recipe: recipe.sh\noptions: {low-resource: te, morphemes: 'yes', low-vectors: a.vec, high-vectors: b.vec}\n"
        "systems: {siamese: , paper-mono: , svm: , mnb-h: }\n"
    )
    prepared = [dict(cell.preparation()) for cell in load(playground.config).cells]
    assert [each.get("morphemes") for each in prepared] == ["yes", "yes", None, None]
    assert prepared[2:] == [{"low-resource": "te"}] * 2
    recipes = (RECIPES / "lib" / "classification.sh").read_text(encoding="utf-8")
    for line, encoders in (("SIAMESE", True), ("BASELINES", False)):
        names = re.search(rf'^{line}="(.*)"$', recipes, re.MULTILINE)[1].split()
        assert {bool(ENCODERS.fullmatch(name)) for name in names} == {encoders}


def test_data_that_are_drawn_by_the_seed(playground):
    playground.write(
        "recipe: recipe.sh\nseeds: [2, 3]\nsystems: {drawn: {options: {draws: seed}}, fixed: {options: {draws: one}}}"
    )
    cells = load(playground.config).cells
    assert [dict(cell.preparation()).get("seed") for cell in cells] == ["2", "3", None, None]


def test_files_on_the_command_line_are_found_from_where_it_is_typed(playground, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert load(playground.config, ["mono=a.txt"]).cells[0].options["mono"] == str(tmp_path / "a.txt")


USES = """
recipe: recipe.sh
seeds: 2
systems:
  of_softmax:
    loss: cosine
    options: {vectors: "{run:softmax}/best.pt"}
    fairseq-train: --encoder-from {run:softmax}/last.pt
  softmax: {seeds: 3}
"""


def test_a_run_that_uses_another_ones(playground):
    playground.write(USES)
    cell = load(playground.config).cells[1]
    assert cell.needs == ("softmax.seed2",)
    used = f"{playground.out}/runs/softmax.seed2"
    command = cell.command(playground.out)
    assert command[command.index("--vectors") + 1] == f"{used}/best.pt"
    assert command[-2:] == ["--encoder-from", f"{used}/last.pt"]
    assert load(playground.config).cells[2].needs == ()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("run:softmax", "run:sotfmax"), "of_softmax.seed1 uses {run:sotfmax}, but there is no system 'sotfmax'"),
        (("seeds: 3", "seeds: [1]"), "there is no system 'softmax' with seed 2"),
        (("seeds: 3", "seeds: 2, fairseq-train: '{run:of_softmax}'"), "runs wait for each other: "),
    ],
)
def test_a_run_that_cannot_be_used(playground, change, said):
    playground.write(USES.replace(*change))
    with pytest.raises(InputError, match=re.escape(said)):
        load(playground.config)


def test_environment_variables(playground, monkeypatch):
    monkeypatch.setenv("SOME_FOLDER", "/some/folder")
    playground.write('recipe: recipe.sh\nsystems: {vmf: }\noptions: {data: "${oc.env:SOME_FOLDER}/x"}')
    assert load(playground.config).cells[0].options["data"] == "/some/folder/x"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("recipe: [", "cannot be read"),
        ("- a list", "must be a mapping"),
        ("systems: {vmf: }", "no 'recipe'"),
        ("recipe: recipe.sh", "no 'systems'"),
        ("recipe: other.sh\nsystems: {vmf: }", "no recipe other.sh"),
        ("recipe: recipe.sh\nsystem: {vmf: }", "did you mean 'systems'"),
        ("recipe: recipe.sh\nsystems: {vmf: {sed: 1}}", "did you mean 'seeds'"),
        (
            "recipe: recipe.sh\nsystems: {vmf: {train: --lr 1}}",
            "unknown key 'train'; there are loss, options, fairseq-train,",
        ),
        (
            "recipe: recipe.sh\ntrain: --lr 1\nsystems: {vmf: }",
            "unknown key 'train'; there are title, recipe, options, fairseq-train",
        ),
        ("recipe: recipe.sh\nsystems: {vmf: {seeds: x}}", "seeds is 'x'"),
        ("recipe: recipe.sh\nsystems: {vmf: {seeds: []}}", "seeds is"),
        ("recipe: recipe.sh\nsystems: {vmf: {seeds: [true]}}", "seeds is"),
        ("recipe: recipe.sh\nsystems: {../x: }", "a system's name"),
        ("recipe: recipe.sh\nsystems: {vmf: {options: {seed: 1}}}", "use `seeds`"),
        ("recipe: recipe.sh\nsystems: {vmf: {options: {src: [a]}}}", "give a word or a number"),
        ('recipe: recipe.sh\nsystems: {vmf: {fairseq-train: "\'open"}}', "cannot be split"),
        ("recipe: recipe.sh\nsystems: {vmf: {fairseq-train: {lr: 0.1}}}", "{'lr': 0.1} is no command line"),
        ("recipe: recipe.sh\nsystems: {vmf: {loss: }}", "loss is None"),
        ("recipe: recipe.sh\nsystems: {vmf: {label: a}, cosine: {label: a}}", "vmf and cosine are both called 'a'"),
        ("recipe: recipe.sh\nname: x\nsystems: {vmf: , cosine: }", "several runs would be called 'x'"),
        ('recipe: recipe.sh\nname: "{nothing}"\nsystems: {vmf: }', "{nothing}, which is no option"),
        ("recipe: recipe.sh\nname: ../{system}\nsystems: {vmf: }", "cannot be the name of a folder"),
        ("recipe: recipe.sh\nbaselines: [cosine]\nsystems: {vmf: }", "none of the systems"),
        ('recipe: recipe.sh\noptions: {data: "${oc.env:NOT_SET}"}\nsystems: {vmf: }', "NOT_SET"),
        ("5", "must be a mapping"),
        ("", "must be a mapping"),
        ("recipe: recipe.sh\nseeds: 1000000000\nsystems: {vmf: }", "more than 10000 seeds: give fewer"),
        ("recipe: recipe.sh\nseeds: 9999\nsystems: {vmf: , l2: }", "more than 10000 runs: give fewer"),
        ("recipe: recipe.sh\nseeds: [4294967296]\nsystems: {vmf: }", "seeds is [4294967296]"),
        ("recipe: recipe.sh\nseeds: true\nsystems: {vmf: }", "seeds is True"),
    ],
)
def test_mistakes(playground, text, said):
    with pytest.raises(InputError, match=re.escape(said)) as error:
        load(playground.write(text))
    assert str(playground.config) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_makes_no_objects(playground):
    victim = playground.folder / "victim"
    text = f"recipe: recipe.sh\ntitle: !!python/object/apply:os.mkdir ['{victim}']\nsystems: {{vmf: }}"
    with pytest.raises(InputError, match=r"python/object/apply:os\.mkdir"):
        load(playground.write(text))
    assert not victim.exists()


def test_no_such_file(tmp_path):
    with pytest.raises(InputError, match="there is no experiment"):
        load(tmp_path / "none.yaml")


@pytest.mark.parametrize("change", ["data", "=x", "loss=vmf", "seeds=2"])
def test_changes_that_are_none(playground, change):
    with pytest.raises(InputError, match="--set"):
        load(playground.config, [change])


def test_every_experiment_of_the_project_can_be_read():
    files = sorted((RECIPES / "experiments").glob("*.yaml"))
    assert files
    for file in files:
        assert load(file).cells


@pytest.mark.parametrize("word", ["no", "off", "false"])
def test_a_word_that_yaml_reads_as_false_is_refused(playground, word):
    playground.write(f"recipe: recipe.sh\noptions: {{diagnose: {word}}}\nsystems: {{vmf: }}")
    with pytest.raises(InputError, match=r"options: the option 'diagnose' is false, .* into quotes"):
        load(playground.config)
    playground.write(f"recipe: recipe.sh\noptions: {{diagnose: '{word}'}}\nsystems: {{vmf: }}")
    assert load(playground.config).cells[0].options["diagnose"] == word


def test_every_path_that_a_recipe_takes_is_found_from_the_folder_of_the_experiment():
    recipes = (path for path in RECIPES.rglob("*.sh") if path.parent.name != "experiments")  # those that a cell can run
    text = "".join(path.read_text(encoding="utf-8") for path in recipes)
    taken = set(re.findall(r"--([\w-]+)\) [A-Z_]+\+?=\(?\"?\$\(absolute \"\$2\"", text))
    assert len(taken) > 15
    assert taken - {*RESERVED, "unlabelled"} <= PATHS  # `--unlabelled` takes two words, which no cell can give
