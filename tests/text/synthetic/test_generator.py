"""The generated corpus: its splits, and that its sentences keep the documented grammar."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from fairseq_xl.cli.data.corpora import Synthetic
from fairseq_xl.cli.main import main
from fairseq_xl.io.errors import InputError
from fairseq_xl.text.synthetic import english
from fairseq_xl.text.synthetic import generator as synthetic
from fairseq_xl.text.synthetic.grammar import Pair
from fairseq_xl.text.synthetic.lexicon import lexicon

GENDER = {noun.lemma: str(noun.gender) for nouns in lexicon().nouns.values() for noun in nouns}
ADJECTIVES = {adjective.lemma for adjective in lexicon().adjectives}
VERBS = {verb.lemma for verb in lexicon().verbs}
AGREEING = re.compile(r"^(?P<lemma>[A-Za-z]+)(-(?P<tense>PRS|PST))?-(?P<agreement>[12]\.(SG|PL))$")
NOUN = re.compile(r"^(?P<lemma>[a-z]+)\.(?P<gender>[12])(?P<plural>-PL)?(-(?P<case>ACC|DAT))?$")
FIRST_SOURCE = "girömin reniste vimevte linekerte vögöp ohuh vimevte ozohmajun salugsum vimevsim mövidte ."
FIRST_TARGET = "the man who buys the small orange helped the big cats ."


@pytest.fixture(scope="module")
def corpus() -> synthetic.Corpus:
    return synthetic.generate(seed=3, train=4000, valid=200, test=200, monolingual=2000)


@pytest.fixture(scope="module")
def pairs(corpus: synthetic.Corpus) -> list[Pair]:
    return corpus.train + corpus.valid + corpus.test


def test_same_seed_same_corpus_and_another_seed_another() -> None:
    first = synthetic.generate(seed=5, train=50, valid=10, test=10)
    assert first == synthetic.generate(seed=5, train=50, valid=10, test=10)
    assert first.train != synthetic.generate(seed=6, train=50, valid=10, test=10).train


def test_the_language_is_fixed_for_ever() -> None:
    """Published numbers name only the seed: a change of words or draws must be noticed."""
    pair = synthetic.generate(seed=1, train=1, valid=1, test=1).test[0]
    assert " ".join(pair.source) == FIRST_SOURCE
    assert " ".join(pair.target) == FIRST_TARGET


def test_held_out_sets_do_not_depend_on_the_other_sizes() -> None:
    small = synthetic.generate(seed=5, train=10, valid=20, test=20)
    large = synthetic.generate(seed=5, train=300, valid=20, test=20, monolingual=100)
    assert (small.valid, small.test) == (large.valid, large.test)


def test_split_sizes_and_no_leak(corpus: synthetic.Corpus, pairs: list[Pair]) -> None:
    assert [len(split) for split in (corpus.train, corpus.valid, corpus.test)] == [4000, 200, 200]
    assert len({pair.source for pair in pairs}) == len(pairs)
    assert len({pair.target for pair in pairs}) == len(pairs)
    held_out = {pair.target for pair in corpus.valid + corpus.test}
    assert len(set(corpus.monolingual)) == 2000
    assert not held_out & set(corpus.monolingual)


def test_a_few_hundred_words_and_hardly_a_new_one_in_the_test_set(corpus: synthetic.Corpus) -> None:
    source = {word for pair in corpus.train for word in pair.source}
    target = {word for pair in corpus.train for word in pair.target}
    assert 500 < len(source) < 900
    assert 250 < len(target) < 400
    unseen = [word for pair in corpus.test for word in pair.source if word not in source]
    assert len(unseen) < 0.01 * sum(len(pair.source) for pair in corpus.test)


def test_word_frequencies_are_far_from_uniform(corpus: synthetic.Corpus) -> None:
    men = Counter(word for pair in corpus.train for word in pair.target if word in GENDER)
    frequent = sum(count for _, count in men.most_common(len(men) // 4))
    assert frequent > 0.45 * sum(men.values())


def test_no_two_words_share_a_form(pairs: list[Pair]) -> None:
    glosses: dict[str, str] = {}
    for pair in pairs:
        assert len(pair.source) == len(pair.gloss)
        for form, gloss in zip(pair.source, pair.gloss, strict=True):
            assert glosses.setdefault(form, gloss) == gloss


def test_suffixes_are_harmonic_and_say_what_the_gloss_says(pairs: list[Pair]) -> None:
    seen = Counter()
    for form, gloss in {pair for p in pairs for pair in zip(p.source, p.gloss, strict=True)}:
        assert not (set(form) & set("aou") and set(form) & set("eiö")), form
        ending = ""
        if match := AGREEING.match(gloss):
            ending = {"1.SG": "t[ae]", "1.PL": "t[ae]m", "2.SG": "s[ui]", "2.PL": "s[ui]m"}[match["agreement"]]
            tense = {"PRS": "j?[ae]r", "PST": "j?[ui]d", None: ""}[match["tense"]]
            ending = tense + ending
            seen[match["agreement"]] += 1
        elif match := NOUN.match(gloss):
            ending = "m[ae]" if match["plural"] else ""
            ending += {"ACC": "j?[ui]n", "DAT": "k[ae]", None: ""}[match["case"]]
            seen[match["case"]] += 1
        assert re.search(f"{ending}$", form), (form, gloss)
    assert all(seen[key] for key in ("1.SG", "1.PL", "2.SG", "2.PL", None, "ACC", "DAT"))


def test_adjectives_and_determiners_agree_with_their_noun(pairs: list[Pair]) -> None:
    checked = 0
    for pair in pairs:
        noun = None
        for gloss in pair.gloss:
            if match := NOUN.match(gloss):
                assert match["gender"] == GENDER[match["lemma"]]
                noun = f"{match['gender']}.{'PL' if match['plural'] else 'SG'}"
            elif (match := AGREEING.match(gloss)) and not match["tense"]:
                assert match["agreement"] == noun, pair
                checked += match["lemma"] in ADJECTIVES
    assert checked > 1000


def test_a_counted_noun_is_singular_in_qelmi_and_plural_in_english(pairs: list[Pair]) -> None:
    checked = 0
    for pair in pairs:
        for position, gloss in enumerate(pair.gloss):
            if gloss not in lexicon().numerals:
                continue
            noun = next(m for g in reversed(pair.gloss[:position]) if (m := NOUN.match(g)))
            assert not noun["plural"], pair
            # at once, or after one adjective; the numeral may stand in the sentence more than once
            following = [
                word for place, word in enumerate(pair.target) if gloss in pair.target[max(0, place - 2) : place]
            ]
            assert english.plural(noun["lemma"]) in following, pair
            checked += 1
    assert checked > 200


def test_verbs_agree_with_their_subject_in_both_languages(pairs: list[Pair]) -> None:
    """Checked in plain clauses, whose subject is the first phrase."""
    pronouns = {pronoun.subject: pronoun for pronoun in lexicon().pronouns}
    checked = Counter()
    for pair in pairs:
        glosses = [gloss for gloss in pair.gloss if gloss not in lexicon().time]
        if {"REL", "because", "when", "before", "Q"} & set(glosses):
            continue
        verbs = [match for gloss in glosses if (match := AGREEING.match(gloss)) and match["tense"]]
        assert len(verbs) == 1
        if noun := NOUN.match(glosses[0]):
            counted = any(gloss in lexicon().numerals for gloss in glosses[1 : 1 + _phrase_length(glosses)])
            number = "PL" if noun["plural"] else "SG"
            agreement, singular = f"{noun['gender']}.{number}", number == "SG" and not counted
        else:
            pronoun = pronouns[glosses[0]]
            agreement, singular = pronoun.agreement, pronoun.third_singular
        assert verbs[0]["agreement"] == agreement, pair
        lemma = verbs[0]["lemma"]
        negated = "NEG" in glosses
        if "FUT" in glosses:
            expected = ["will", "not", lemma] if negated else ["will", lemma]
        elif verbs[0]["tense"] == "PST":
            expected = ["did", "not", lemma] if negated else [english.past(lemma)]
        elif singular:
            expected = ["does", "not", lemma] if negated else [english.third_person(lemma)]
        else:
            expected = ["do", "not", lemma] if negated else [lemma]
        assert f" {' '.join(expected)} " in f" {' '.join(pair.target)} ", pair
        checked[" ".join(expected[:-1]) or verbs[0]["tense"]] += 1
    assert min(checked[key] for key in ("PRS", "PST", "will", "did not", "does not", "do not")) > 20


def _phrase_length(glosses: tuple[str, ...] | list[str]) -> int:
    """How many words after the first belong to its noun phrase: an adjective, then a determiner."""
    determiners = {*lexicon().numerals, *lexicon().possessives, "every"}
    length = 0
    for gloss in glosses[1:3]:
        match = AGREEING.match(gloss)
        if gloss not in determiners and (not match or match["tense"]):
            break
        length += 1
    return length


def test_the_verb_comes_last_and_english_is_not_in_its_order(pairs: list[Pair]) -> None:
    for pair in pairs:
        tail = [gloss for gloss in pair.gloss if gloss not in ("FUT", "NEG", "Q", ".", "?")]
        assert (match := AGREEING.match(tail[-1]))
        assert match["tense"], pair
        assert pair.source[-1] == pair.target[-1]
        assert (pair.target[-1] == "?") == ("Q" in pair.gloss)


def test_articles_fit_the_next_word(pairs: list[Pair]) -> None:
    seen = Counter()
    for pair in pairs:
        for article, word in zip(pair.target, pair.target[1:], strict=False):
            if article in ("a", "an"):
                assert (word[0] in "aeiou") == (article == "an"), pair
                seen[article] += 1
    assert min(seen["a"], seen["an"]) > 50


def test_verbs_select_their_objects(pairs: list[Pair]) -> None:
    """What is eaten is food: the classes leave their mark on the text for word vectors."""
    kinds = {noun.lemma: noun.kind for nouns in lexicon().nouns.values() for noun in nouns}
    objects = {verb.lemma: set(verb.objects) for verb in lexicon().verbs}
    for pair in pairs:
        pending: list[str] = []
        for gloss in pair.gloss:
            if (noun := NOUN.match(gloss)) and noun["case"] == "ACC":
                pending.append(kinds[noun["lemma"]])
            elif (verb := AGREEING.match(gloss)) and verb["tense"]:
                # the nearest accusative is this verb's own; a pronoun leaves none pending
                own = pending.pop() if pending else None
                assert own is None or own in objects[verb["lemma"]], pair


def test_the_documentation_s_examples_are_in_the_language(pairs: list[Pair]) -> None:
    """Each interlinear example names forms and glosses that the generator makes as well."""
    block = synthetic.__doc__.split("Examples (form, gloss, English)::")[1].split("English is")[0]
    examples = [part.split("\n")[-3:] for part in block.strip("\n").split("\n\n") if part.strip()]
    known = {pair for p in pairs for pair in zip(p.source, p.gloss, strict=True)}
    assert len(examples) == 4
    for source, gloss, _ in examples:
        shown = set(zip(source.split(), gloss.split(), strict=True))
        assert shown <= known, shown - known


def test_command_writes_whole_files_that_line_up(tmp_path, capsys) -> None:
    sizes = {"train": 30, "valid": 5, "test": 6, "monolingual": 40}
    Synthetic(output=tmp_path / "data", seed=2, gloss=True, **sizes).run()
    printed = capsys.readouterr().out.split()
    names = sorted(path.name for path in (tmp_path / "data").glob("[a-z]*"))
    assert sorted(printed) == sorted(str(tmp_path / "data" / name) for name in names)
    assert len(names) == 10
    for split in ("train", "valid", "test"):
        source, target, gloss = (
            (tmp_path / "data" / f"{split}.{suffix}").read_text(encoding="utf-8").splitlines()
            for suffix in ("qel", "en", "gloss")
        )
        assert len(source) == len(target) == len(gloss) == sizes[split]
    assert len((tmp_path / "data" / "mono.en").read_text(encoding="utf-8").splitlines()) == 40


def test_command_refuses_what_it_cannot_do(tmp_path, capsys) -> None:
    assert main(["data", "synthetic", "--output", str(tmp_path), "--valid", "0"]) == 2
    assert "--valid is 0: give a number from 1" in capsys.readouterr().err
    (tmp_path / "file").write_text("here")
    with pytest.raises(InputError, match=r"cannot make the folder of .*: File exists"):
        Synthetic(output=tmp_path / "file", train=30, valid=1, test=6).run()


def test_a_text_of_the_users_own_is_not_written_over(tmp_path) -> None:
    sizes = {"train": 3, "valid": 2, "test": 2, "monolingual": 0}
    Synthetic(output=tmp_path, seed=2, **sizes).run()
    Synthetic(output=tmp_path, seed=3, **sizes).run()
    (tmp_path / "train.en").write_text("mine")
    with pytest.raises(InputError, match=r"train\.en is not as data synthetic wrote it: move it elsewhere first"):
        Synthetic(output=tmp_path, seed=2, **sizes).run()
    assert (tmp_path / "train.en").read_text() == "mine"
