"""Two spaces in one: from a small dictionary, CSLS in loops, the command."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ortho_group

from fairseq_xl.cli.main import main
from fairseq_xl.io.errors import InputError
from fairseq_xl.vectors.alignment import Induction, align, centered_units, precision
from fairseq_xl.vectors.table import WordVectors, read_vectors, write_vectors

DIM, COUNT = 12, 300


@pytest.fixture
def spaces():
    """The same cloud of words in two languages, one of them turned and a little shaken."""
    random = np.random.default_rng(1)
    target = random.standard_normal((COUNT, DIM))
    turn = ortho_group.rvs(DIM, random_state=2)
    source = target @ turn.T + 0.05 * random.standard_normal((COUNT, DIM))
    return (WordVectors([f"s{i}" for i in range(COUNT)], source), WordVectors([f"t{i}" for i in range(COUNT)], target))


def right(source, target, matrix) -> float:
    found = Induction(source.matrix @ matrix, target.matrix).best(range(COUNT), 1)[:, 0]
    return float((found == np.arange(COUNT)).mean())


def test_refinement_makes_much_of_a_small_seed(spaces):
    source, target = map(centered_units, spaces)
    seed = [(f"s{i}", f"t{i}") for i in range(10)] + [("s11", "nowhere")]
    poor, used = align(source, target, seed, rounds=0)
    good, pairs = align(source, target, seed, rounds=5)
    assert len(used) == 10
    assert right(source, target, poor) < 0.9
    assert right(source, target, good) > 0.99
    assert len(pairs) > 290


def test_csls_in_loops():
    random = np.random.default_rng(5)
    source, target = (m / np.linalg.norm(m, axis=1, keepdims=True) for m in random.standard_normal((2, 30, 4)))
    found = Induction(source, target, k=3)
    cosine = source @ target.T
    r_source = [np.sort(row)[-3:].mean() for row in cosine]
    r_target = [np.sort(column)[-3:].mean() for column in cosine.T]
    csls = [[2 * cosine[i, j] - r_source[i] - r_target[j] for j in range(30)] for i in range(30)]
    expected = np.argsort(-np.array(csls), axis=1)
    np.testing.assert_array_equal(found.best(range(30), 4), expected[:, :4])
    np.testing.assert_array_equal(found.best([7], 2, csls=False)[0], np.argsort(-cosine[7])[:2])
    best, back = np.argmax(csls, 1), np.argmax(csls, 0)
    assert found.mutual() == [(i, j) for i, j in enumerate(best) if back[j] == i]


def test_precision_counts_any_translation():
    found = np.array([[3, 1], [2, 0]])
    translations = {5: {1, 9}, 6: {4}}
    assert precision(found, [5, 6], translations, 1) == 0
    assert precision(found, [5, 6], translations, 2) == 0.5


def test_the_command_writes_both_and_measures(spaces, tmp_path, capsys):
    paths = [tmp_path / name for name in ("s.vec", "t.vec", "seed.txt", "test.txt", "so.vec", "to.vec")]
    for path, vectors in zip(paths[:2], spaces, strict=True):
        write_vectors(path, vectors)
    paths[2].write_text("".join(f"s{i} t{i}\n" for i in range(20)))
    paths[3].write_text("".join(f"s{i}\tt{i}\n" for i in range(100, 150)) + "unknown t1\n")
    line = ["vectors", "align", *map(str, paths[:2]), "--output", *map(str, paths[4:]), "--test", str(paths[3])]
    assert main([*line, "--dictionary", str(paths[2])]) == 0
    said = capsys.readouterr()
    assert "50 of 51 words of test.txt measured" in said.out
    assert "CSLS P@1 100.0%" in said.out
    rotated, kept = (read_vectors(path, progress=False) for path in paths[4:])
    np.testing.assert_allclose((rotated.matrix * kept.matrix).sum(1), 1, atol=0.1)
    assert rotated.words == spaces[0].words
    # A dictionary that is refused changes neither file, one of which a former call wrote.
    paths[3].write_text("unknown t1\n")
    paths[4].write_text("old\n")
    paths[5].unlink()
    assert main([*line, "--dictionary", str(paths[2])]) == 2
    assert "no pair has vectors on both sides" in capsys.readouterr().err
    assert (paths[4].read_text(), paths[5].exists()) == ("old\n", False)
    line[line.index("--output") + 2] = line[line.index("--output") + 1]
    assert main([*line, "--identical"]) == 2
    assert "twice: give each side a file of its own" in capsys.readouterr().err


def test_joined_words_know_their_language(spaces, tmp_path, capsys):
    for name, vectors in (("s.vec", spaces[0]), ("t.vec", spaces[1])):
        write_vectors(tmp_path / name, vectors)
    s, t = tmp_path / "s.vec", tmp_path / "t.vec"
    joint = tmp_path / "joint.npy"
    assert main(["vectors", "join", f"en={s}", f"fr={t}", "--output", str(joint)]) == 0
    found = read_vectors(joint, progress=False)
    assert found.words == [f"en:{w}" for w in spaces[0].words] + [f"fr:{w}" for w in spaces[1].words]
    np.testing.assert_allclose(found.matrix, np.concatenate([v.matrix for v in spaces]), rtol=1e-6)
    mistakes = {
        "gives en twice": [f"en={s}", f"en={t}"],
        "write CODE=FILE, such as en=en.vec": [str(s)],
        "'EN' is no code of a language": [f"EN={s}"],
    }
    for said, inputs in mistakes.items():
        assert main(["vectors", "join", *inputs, "--output", str(joint)]) == 2
        assert said in capsys.readouterr().err


def test_what_cannot_be_aligned(spaces, tmp_path, capsys):
    source, target = spaces
    with pytest.raises(InputError, match="12 dimensions and the target's 5"):
        align(source, WordVectors(target.words, target.matrix[:, :5]), [])
    with pytest.raises(InputError, match="only 1 pairs of the seed"):
        align(source, target, [("s1", "t1")])
    path = tmp_path / "bad.txt"
    path.write_text("one two 0.5\nthree\n")
    for name, vectors in (("s.vec", source), ("t.vec", target)):
        write_vectors(tmp_path / name, vectors)
    line = ["vectors", "align", str(tmp_path / "s.vec"), str(tmp_path / "t.vec"), "--output", "a.vec", "b.vec"]
    assert main([*line, "--dictionary", str(path)]) == 2
    assert (
        "line 2: expected a word, its translation and maybe a weight, separated by tabs, not 'three'"
        in capsys.readouterr().err
    )
    path.write_text("one two three\n")
    assert main([*line, "--dictionary", str(path)]) == 2
    assert "line 1: expected a word, its translation and maybe a weight" in capsys.readouterr().err
    assert main([*line, "--identical"]) == 2
    assert "only 0 pairs of the seed" in capsys.readouterr().err
    (tmp_path / "a.vec").write_text("old")
    line = [*line[:4], "--output", str(tmp_path / "a.vec"), "b.txt2", "--dictionary", str(path)]
    path.write_text("".join(f"s{n} t{n}\n" for n in range(20)))
    assert main(line) == 2
    assert "cannot write b.txt2: its name must end in" in capsys.readouterr().err
    assert (tmp_path / "a.vec").read_text() == "old", "both or none"


def test_a_common_part_is_taken_away():
    found = centered_units(WordVectors(["a", "b"], np.array([[3, 1], [3, -1]], dtype=np.float32)))
    np.testing.assert_allclose(found.matrix, [[0, 1], [0, -1]], atol=1e-6)


def test_mutual_translations_are_nearest_by_csls_both_ways():
    random = np.random.default_rng(0)
    a, b = (random.normal(size=(count, 4)) + 1 for count in (40, 30))  # all near each other, so there are hubs
    a, b = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (a, b))
    cosine = a @ b.T
    csls = 2 * cosine - np.sort(cosine, 1)[:, -5:].mean(1)[:, None] - np.sort(cosine, 0)[-5:].mean(0)
    there, back = csls.argmax(1), csls.argmax(0)
    found = Induction(a.astype(np.float32), b.astype(np.float32), k=5).mutual()
    assert found == [(i, j) for i, j in enumerate(there.tolist()) if back[j] == i]
