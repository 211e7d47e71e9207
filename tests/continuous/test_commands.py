"""fairseq's own commands on a continuous model: train, translate in every way offered, swap, refuse."""

import json
import os
import random
import re
from pathlib import Path

import forked
import parallel_text
import pytest
import random_vectors
import torch

from fairseq_xl.cli import main as cli
from fairseq_xl.text.hypotheses import read_replaced

ROOT = Path(__file__).resolve().parents[2]
PAIRS = [
    ("ein", "a"),
    ("hund", "dog"),
    ("kind", "child"),
    ("mann", "man"),
    ("rennt", "runs"),
    ("schläft", "sleeps"),
    ("isst", "eats"),
    ("roter", "red"),
    ("alter", "old"),
]

pytestmark = pytest.mark.slow


def run(module, line, *arguments, check=True, stdin=""):
    """A command as a fork: the words of a line, and arguments that may hold spaces."""
    done = forked.run(module, *line.split(), *arguments, stdin=stdin)
    if check and done.returncode:
        raise AssertionError(f"{module} {line} {arguments} ended with {done.returncode}:\n{done.stderr[-3000:]}")
    return done


def sentences(count, seed):
    draw = random.Random(seed)
    for _ in range(count):
        chosen = [PAIRS[0], draw.choice(PAIRS[7:]), draw.choice(PAIRS[1:4]), draw.choice(PAIRS[4:7])]
        if draw.random() < 0.5:
            del chosen[1]
        yield " ".join(p[0] for p in chosen), " ".join(p[1] for p in chosen)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    parallel_text.prepare(folder, train=sentences(300, 0), valid=sentences(21, 1), test=sentences(19, 2))
    random_vectors.write(folder / "en.vec", [e for _, e in PAIRS], 16)
    return folder


def train(corpus, save, *options, check=True):
    return run(
        "fairseq_cli.train",
        f"{corpus}/bin --user-dir {ROOT}/fairseq_xl --task translation --arch continuous_lstm_tiny "
        f"--target-vectors {corpus}/en.vec --optimizer adam --lr 0.01 --max-tokens 100 "
        f"--required-batch-size-multiple 1 --save-dir {save} --log-format json --no-epoch-checkpoints "
        "--num-workers 0 --cpu",
        *options,
        check=check,
    )


@pytest.fixture(scope="module")
def models(corpus):
    for name, options in (
        ("proj", ["--criterion", "syn_margin_proj", "--max-epoch", "12"]),
        ("vmf", ["--criterion", "vmf", "--decode-score", "vmf_posterior", "--max-epoch", "12"]),
    ):
        train(corpus, corpus / name, "--seed", "1", *options)
    # Generation must not need the vector file any more.
    (corpus / "en.vec").rename(corpus / "moved.vec")
    yield corpus
    (corpus / "moved.vec").rename(corpus / "en.vec")


def generate(models, *options, path="proj/checkpoint_best.pt", data="bin"):
    paths = os.pathsep.join(str(models / p) for p in path.split(":"))
    done = run(
        "fairseq_cli.generate",
        f"{models / data} --user-dir {ROOT}/fairseq_xl --path {paths} --cpu --max-tokens 2000 "
        "--required-batch-size-multiple 1",
        *options,
    )
    found = re.findall(r"^H-(\d+)\t(\S+)\t(.*)$", done.stdout, re.M)
    return {int(i): (float(score), text) for i, score, text in found}, done


def accuracy(models, found, reference="test.en"):
    lines = (models / reference).read_text(encoding="utf-8").splitlines()
    assert len(found) == len(lines)
    return sum(found[i][1] == line for i, line in enumerate(lines)) / len(lines)


@pytest.mark.parametrize(
    "path", ["proj/checkpoint_best.pt", "vmf/checkpoint_best.pt", "proj/checkpoint_best.pt:vmf/checkpoint_best.pt"]
)
@pytest.mark.parametrize("beam", [1, 4])
def test_translates_alone_and_in_an_ensemble(models, path, beam):
    found, _ = generate(models, "--beam", beam, path=path)
    assert accuracy(models, found) > 0.9


def test_every_score_translates_greedily_alike(models):
    texts = []
    for score in ("cosine", "vmf_posterior", "vmf_density"):
        found, _ = generate(models, "--beam", "1", "--model-overrides", f"{{'decode_score': '{score}'}}")
        texts.append({i: text for i, (_, text) in found.items()})
    assert texts[0] == texts[1] == texts[2]


def test_looking_at_the_nearest_words_alone_translates_alike(models):
    plain, _ = generate(models, "--beam", "3")
    for nearest in ("top", "flat"):
        found, _ = generate(models, "--beam", "3", "--task", "continuous_translation", "--nearest", nearest)
        assert {i: text for i, (_, text) in found.items()} == {i: text for i, (_, text) in plain.items()}, nearest
        if nearest == "top":
            assert all(abs(found[i][0] - plain[i][0]) < 1e-3 for i in plain)


def test_prefix_diversity_sampling_and_reference_scores(models):
    diverse, _ = generate(models, "--beam", "4", "--diverse-beam-groups", "2", "--batch-size", "7")
    assert accuracy(models, diverse) > 0.9
    found, _ = generate(models, "--beam", "3", "--prefix-size", "2")
    references = (models / "test.en").read_text().splitlines()
    assert all(text.split()[:2] == references[i].split()[:2] for i, (_, text) in found.items())
    sampled, _ = generate(models, "--sampling", "--beam", "1", "--temperature", "3", "--seed", "1")
    assert len(sampled) == 19
    scored, _ = generate(models, "--score-reference")
    assert [scored[i][1] for i in range(19)] == references
    assert all(score < 0 for score, _ in scored.values())


def test_constrained_decoding(models):
    done = run(
        "fairseq_cli.interactive",
        f"{models}/bin --user-dir {ROOT}/fairseq_xl --path {models}/proj/checkpoint_best.pt --cpu --beam 5 "
        "--constraints --source-lang de --target-lang en",
        stdin="ein hund rennt\told\n",
    )
    (text,) = re.findall(r"^H-0\t\S+\t(.*)$", done.stdout, re.M)
    assert "old" in text.split()


def test_interactive_replaces_unknown_words_by_the_source(models):
    done = run(
        "fairseq_cli.interactive",
        f"{models}/bin --user-dir {ROOT}/fairseq_xl --path {models}/proj/checkpoint_best.pt --cpu --beam 2 "
        "--replace-unk --source-lang de --target-lang en",
        stdin="ein kind schläft\n",
    )
    assert re.search(r"^H-0\t\S+\ta child sleeps$", done.stdout, re.M)


def test_unknown_words_are_replaced_from_a_log_with_attention(models, tmp_path):
    """Nothing but unknown words, from batches whose sentences differ in length."""
    options = ("--beam", "2", "--unkpen", "-1000", "--max-len-b", "5", "--print-alignment", "soft")
    _, done = generate(models, *options)
    (tmp_path / "log").write_text(done.stdout, encoding="utf-8")
    lines, counts = read_replaced(tmp_path / "log", models / "test.de", dict(PAIRS))
    sources = (models / "test.de").read_text(encoding="utf-8").splitlines()
    assert counts.translated == sum(len(line.split()) for line in lines) > 19
    for line, source in zip(lines, sources, strict=True):
        assert set(line.split()) <= {dict(PAIRS)[word] for word in source.split()}


def test_validate_and_best_checkpoint_by_bleu(models, tmp_path):
    done = run(
        "fairseq_cli.validate",
        f"{models}/bin --user-dir {ROOT}/fairseq_xl --path {models}/proj/checkpoint_best.pt --cpu --task "
        "translation --max-tokens 2000 --valid-subset valid --required-batch-size-multiple 1",
    )
    assert "accuracy" in done.stdout + done.stderr
    (models / "moved.vec").rename(models / "en.vec")
    try:
        done = train(
            models,
            tmp_path,
            *("--criterion", "syn_margin_diff", "--max-epoch", "3", "--eval-bleu", "--eval-bleu-args", '{"beam": 1}'),
            *("--best-checkpoint-metric", "bleu", "--maximize-best-checkpoint-metric"),
        )
    finally:
        (models / "en.vec").rename(models / "moved.vec")
    assert '"valid_best_bleu"' in done.stdout + done.stderr
    found, _ = generate(models, "--beam", "1", path=str(tmp_path / "checkpoint_best.pt"))
    assert len(found) == 19


def test_a_swapped_vocabulary_says_words_never_seen(models, tmp_path):
    """The same vectors under new names: what was `dog` in training is now called `hound`."""
    rename = {"dog": "hound", "runs": "races"}
    old = (models / "moved.vec").read_text(encoding="utf-8").splitlines()
    words = [rename.get(line.split(" ")[0], line.split(" ")[0]) for line in old[1:]]
    rows = [" ".join([w, *line.split(" ")[1:]]) for w, line in zip(words, old[1:], strict=True)]
    random_vectors.write(tmp_path / "more.vec", ["zebra", "yak"], 16, seed=9)
    more = (tmp_path / "more.vec").read_text().splitlines()[1:]
    vectors = tmp_path / "new.vec"
    vectors.write_text("\n".join([f"{len(rows) + 2} 16", *rows, *more]) + "\n", encoding="utf-8")
    (tmp_path / "dict.txt").write_text("".join(f"{w} 1\n" for w in [*words, "zebra", "yak"]))
    for side in ("de", "en"):
        text = (models / f"test.{side}").read_text(encoding="utf-8")
        for before, after in rename.items() if side == "en" else ():
            text = text.replace(before, after)
        (tmp_path / f"test.{side}").write_text(text, encoding="utf-8")
    run(
        "fairseq_cli.preprocess",
        f"--source-lang de --target-lang en --srcdict {models}/bin/dict.de.txt --tgtdict "
        f"{tmp_path}/dict.txt --testpref {tmp_path}/test --destdir {tmp_path}/bin",
    )
    overrides = f"{{'swap_vectors': '{vectors}'}}"
    found, _ = generate(models, "--beam", "1", "--model-overrides", overrides, data=tmp_path / "bin")
    assert any("hound" in text.split() for _, text in found.values())
    assert accuracy(models, found, reference=tmp_path / "test.en") > 0.9


def refused(done, *parts):
    assert done.returncode != 0
    sentence = done.stderr.strip().splitlines()[-1]
    assert "Traceback" not in done.stderr, done.stderr[-2000:]
    assert sentence.startswith("error: ")
    for part in parts:
        assert part in sentence
    assert "num_updates" not in done.stdout + done.stderr


def test_what_cannot_work_is_refused_before_training(models, tmp_path):
    good = models / "moved.vec"

    def attempt(*options):
        return train(models, tmp_path / "save", "--max-epoch", "1", *options, check=False)

    refused(attempt("--criterion", "vmf", "--target-vectors", tmp_path / "no.vec"), "no.vec")
    refused(attempt("--criterion", "vmf", "--target-vectors", good, "--target-dim", "300"), "300", "16")
    lines = good.read_text().splitlines()
    lines[3] = lines[3].split(" ")[0] + " " + " ".join(["nan"] * 16)
    (tmp_path / "nan.vec").write_text("\n".join(lines) + "\n")
    word = lines[3].split(" ")[0]
    refused(attempt("--criterion", "vmf", "--target-vectors", tmp_path / "nan.vec"), "nan.vec", word)
    refused(attempt("--criterion", "cross_entropy", "--target-vectors", good), "trains a softmax")
    done = run(
        "fairseq_cli.generate",
        f"{models}/bin --user-dir {ROOT}/fairseq_xl --path {models}/proj/checkpoint_best.pt --cpu --task "
        "continuous_translation --nearest top --no-repeat-ngram-size 2",
        check=False,
    )
    assert "--no-repeat-ngram-size edits every" in done.stderr.strip().splitlines()[-1]
    assert "Traceback" not in done.stderr
    refused(
        attempt("--criterion", "vmf", "--decoder-output", "softmax", "--target-vectors", good),
        "this model predicts none",
    )
    for criterion, task in (("contrastive", "siamese_contrastive"), ("pair_classification", "pair_classification")):
        refused(attempt("--criterion", criterion, "--target-vectors", good), f"give --task {task}")
    done = attempt("--criterion", "vmf", "--target-vectors", good, "--best-checkpoint-metric", "ppl")
    assert done.returncode == 2
    assert "--best-checkpoint-metric ppl: validation measures accuracy, " in done.stderr.splitlines()[-1]


def test_overrides_of_decoding_options_are_checked(models):
    for overrides, said in (
        ("{'decode_scoree':'cosine'}", "which no model knows: choose decode_csls_weight, "),
        ("{'decode_score':'cosin'}", "Invalid value 'cosin', expected one of [cosine, vmf_posterior, vmf_density]"),
    ):
        done = run(
            "fairseq_cli.generate",
            f"{models}/bin --user-dir {ROOT}/fairseq_xl --path {models}/proj/checkpoint_best.pt --cpu",
            *("--model-overrides", overrides),
            check=False,
        )
        assert done.returncode == 2
        assert said in done.stderr.splitlines()[-1]


def test_the_average_of_weights_keeps_the_table(models, tmp_path):
    vectors = models / "moved.vec"
    train(models, tmp_path, "--criterion", "vmf", "--target-vectors", vectors, "--max-epoch", "2", "--store-ema")
    state = torch.load(tmp_path / "checkpoint_last.pt", weights_only=True)
    model, average = state["model"], state["extra_state"]["ema"]
    for name in ("table", "banned", "fingerprint"):
        assert torch.equal(average[f"decoder.targets.{name}"], model[f"decoder.targets.{name}"])
    assert any(not torch.equal(average[name], model[name]) for name in model)


def test_a_checkpoint_for_another_dictionary_is_refused(models, tmp_path):
    (tmp_path / "dict.txt").write_text("a 1\ndog 1\n")
    run(
        "fairseq_cli.preprocess",
        f"--source-lang de --target-lang en --srcdict {models}/bin/dict.de.txt --tgtdict "
        f"{tmp_path}/dict.txt --testpref {models}/test --destdir {tmp_path}/bin",
    )
    done = run(
        "fairseq_cli.generate",
        f"{tmp_path}/bin --user-dir {ROOT}/fairseq_xl --path {models}/proj/checkpoint_best.pt --cpu",
        check=False,
    )
    assert done.returncode != 0
    assert "target table has" in done.stderr.splitlines()[-1]


def test_the_table_is_in_the_checkpoint_and_not_in_the_optimiser(models):
    state = torch.load(models / "proj/checkpoint_best.pt", weights_only=True)
    table = state["model"]["decoder.targets.table"]
    assert table.shape[1] == 16
    assert all(
        value.shape != table.shape
        for entry in state["last_optimizer_state"]["state"].values()
        for value in entry.values()
        if torch.is_tensor(value)
    )


def test_neighbours_command_shows_each_predicted_word(models):
    done = run(
        "fairseq_xl.cli.main",
        f"translate nearest {models}/proj/checkpoint_best.pt --data {models}/bin -k 3 --device cpu --sentence",
        "ein hund rennt",
    )
    words = re.findall(r"^  (\S+) +-?[\d.]+  kappa", done.stdout, re.M)
    assert words == ["a", "dog", "runs", "</s>"]
    given = f"translate nearest {models}/proj/checkpoint_best.pt --data {models}/bin -k 3 --device cpu --sentence"
    done = run("fairseq_xl.cli.main", given, "ein hund rennt", "--reference", "a man runs")
    shown = re.findall(
        r"^  (\S+)\n    prediction +(\S+).*\n    projection +(\S+).*\n    difference +", done.stdout, re.M
    )
    assert [word for word, _, _ in shown] == ["a", "man", "runs", "</s>"]
    assert shown[1][1] == "dog"
    assert all(negative != word for word, _, negative in shown)
    done = run("fairseq_xl.cli.main", given, "ein hund rennt", "--reference", "a", "b", check=False)
    assert done.returncode == 2
    assert "--reference has another number of sentences than --sentence: give one for each" in done.stderr


def test_diagnose_agrees_with_fairseq_s_own_commands(models, tmp_path):
    paths = [models / "proj/checkpoint_best.pt", models / "vmf/checkpoint_best.pt"]
    output = tmp_path / "new/diagnosis.json"
    done = run(
        "fairseq_xl.cli.main",
        f"translate diagnose --data {models}/bin --split test --words dog --output {output} --device cpu",
        *paths,
    )
    assert "syn_margin_proj, margin 0.5, epoch" in done.stdout
    report = json.loads(output.read_text(encoding="utf-8"))
    assert report["split"] == "test"
    references = [[*line.split(), "</s>"] for line in (models / "test.en").read_text().splitlines()]
    for path, entry in zip(paths, report["checkpoints"], strict=True):
        assert entry["checkpoint"] == str(path)
        assert entry["updates"] > 0
        valid = run(
            "fairseq_cli.validate",
            f"{models}/bin --user-dir {ROOT}/fairseq_xl --path {path} --cpu --task translation --max-tokens "
            "2000 --valid-subset test --log-format json --required-batch-size-multiple 1",
        )
        logged = json.loads(re.findall(r"\{.*\}", valid.stdout + valid.stderr)[-1])
        value = {name.removeprefix("test_"): float(x) for name, x in logged.items() if name != "test"}
        forced = entry["teacher_forcing"]
        assert forced["accuracy"]["1"] == pytest.approx(value["accuracy"], abs=1e-3)
        assert forced["target"] == pytest.approx(value["cosine"], abs=1e-4)
        assert entry["geometry"]["kappa"]["mean"] == pytest.approx(value["kappa"], abs=1e-3)
        translated, _ = generate(models, "--beam", "1", path=str(path.relative_to(models)))
        hypotheses = [[*translated[i][1].split(), "</s>"] for i in range(len(references))]
        pairs = [p for h, r in zip(hypotheses, references, strict=True) for p in zip(h, r, strict=False)]
        own = entry["own_decoding"]
        assert own["positions"] == len(pairs)
        assert own["correct"] == sum(a == b for a, b in pairs)
        assert own["hypothesis_words"] == sum(map(len, hypotheses))
        assert entry["reference_words"] == sum(map(len, references))
        assert entry["words"][0]["positions"] == sum(line.count("dog") for line in references)
    proj, vmf = report["checkpoints"]
    constant = proj["stability"]["projection"]
    assert abs(constant["lambda3"]["mean"]) + constant["lambda3"]["std"] < 1e-5
    assert abs(constant["lambda4"]["mean"] - 1) + constant["lambda4"]["std"] < 1e-5
    assert proj["stability"]["uniform"]["lambda4"]["std"] > 0.05
    assert vmf["stability"]["projection"]["hinge_active"] is None


def test_diagnose_refuses_what_it_cannot_measure(models, tmp_path, capsys):
    def attempt(*options, model=models / "proj/checkpoint_best.pt"):
        line = f"translate diagnose {model} --data {models}/bin --device cpu --output {tmp_path}/out.json"
        assert cli.main([*line.split(), *map(str, options)]) == 2
        return capsys.readouterr().err.splitlines()[-1]

    assert "no split 'dev'" in attempt("--split", "dev")
    assert "'giraffe' is not in the target dictionary" in attempt("--words", "dog", "giraffe")
    assert "--top is 0: give a number from 1" in attempt("-k", "0")
    assert "--max-tokens is -1: give a number" in attempt("--max-tokens", "-1")
    assert "no checkpoint at" in attempt(model=tmp_path / "none.pt")
    (tmp_path / "file").write_text("")
    assert "cannot make the folder of" in attempt("--output", tmp_path / "file/out.json")
    (models / "moved.vec").rename(models / "en.vec")
    try:
        options = "--criterion cross_entropy --decoder-output softmax --max-epoch 1"
        train(models, tmp_path / "softmax", *options.split())
    finally:
        (models / "en.vec").rename(models / "moved.vec")
    softmax = tmp_path / "softmax/checkpoint_best.pt"
    assert "without vector outputs" in attempt(model=softmax)
    assert not (tmp_path / "out.json").exists()
