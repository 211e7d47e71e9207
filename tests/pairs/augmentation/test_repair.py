"""Words without a vector, rule by rule."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spanish_words import VOCABULARY

from fairseq_xl.pairs.augmentation.repair import (
    RULES,
    Repair,
    RepairSettings,
    spanish_sound,
    without_accents,
    without_doubles,
)


@pytest.mark.parametrize(
    ("folding", "one", "other"),
    [
        (without_accents, "cupón", "cupon"),
        (without_accents, "españa", "espana"),
        (without_doubles, "dirrección", "direccion"),
        (without_doubles, "ayudaaaa", "ayuda"),
        (spanish_sound, "recivido", "recibido"),  # b and v
        (spanish_sound, "ablar", "hablar"),  # a silent h
        (spanish_sound, "llo", "yo"),
        (spanish_sound, "cayado", "callado"),
        (spanish_sound, "reembolzo", "reembolso"),
        (spanish_sound, "nesesito", "necesito"),
        (spanish_sound, "targeta", "tarjeta"),
        (spanish_sound, "kiero", "quiero"),
        (spanish_sound, "estranjero", "extranjero"),
        (spanish_sound, "exelente", "excelente"),
        (spanish_sound, "tienpo", "tiempo"),
        (spanish_sound, "estoi", "estoy"),
        (spanish_sound, "yelo", "hielo"),
        (spanish_sound, "kasa", "casa"),
    ],
)
def test_foldings_make_equal(folding, one, other):
    assert folding(one) == folding(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("mucho", "muco"), ("gato", "jato"), ("casa", "caja"), ("guerra", "gerra"), ("pero", "perro"), ("rey", "re")],
)
def test_other_sounds_stay_apart(one, other):
    assert spanish_sound(one) != spanish_sound(other)


RANKS = {word: rank for rank, word in enumerate(VOCABULARY)}


def found(counts: dict[str, int], neighbours: dict[tuple[str, str], int] | None = None, **options):
    options.setdefault("language", "es")
    keep = options.pop("keep", ())
    return Repair(RANKS, Counter(counts), Counter(neighbours or {}), RepairSettings(**options), keep).found


@pytest.mark.parametrize(
    ("word", "better", "rule"),
    [
        ("cupon", "cupón", "accents"),
        ("llegò", "llegó", "accents"),  # of two, the more frequent
        ("recivido", "recibido", "spelling"),
        ("resividos", "recibidos", "spelling"),
        ("reembollso", "reembolso", "doubled"),
        ("dirrecion", "dirección", "doubled"),
        ("e-mail", "email", "joined"),
        ("pedido.por", "pedido por", "joined"),
    ],
)
def test_rules_without_a_witness(word, better, rule):
    assert found({word: 3}) == {word: (better, rule)}
    assert found({word: 3}, without=[rule]) != {word: (better, rule)}


def test_two_words_for_one_need_a_witness():
    assert found({"porfavor": 2}, {("por", "favor"): 20}) == {"porfavor": ("por favor", "joined")}
    assert found({"porfavor": 2}, {("por", "favor"): 19}) == {}
    assert found({"porfavor": 2}, {("por", "favor"): 19}, times=9) != {}
    assert found({"porxavor": 1}, {("por", "xavor"): 99}) == {}


@pytest.mark.parametrize(
    ("word", "better"),
    [
        ("remboso", None),  # two letters in a short word
        ("reemboloso", "reembolso"),
        ("reemoblso", "reembolso"),  # exchanged
        ("xeembolso", None),  # the first letter
        ("coro", None),  # too short a word
        ("cobrro1", None),  # has a digit
    ],
)
def test_near_words(word, better):
    counts = {word: 1, "reembolso": 10, "cobro": 100}
    wanted = {} if better is None else {word: (better, "near")}
    assert found(counts, without=[name for name in RULES if name != "near"]) == wanted
    assert found({**counts, "\u0301": 10}, without=[name for name in RULES if name != "near"]) == wanted, "a mark alone"
    assert found({**counts, "reembolso": 9}, without=[name for name in RULES if name != "near"]) == {}


def test_two_letters_in_a_long_word():
    ranks = {"inmediatamente": 0}
    counts = Counter({"inmeditament": 1, "inmediatamente": 10})
    for lengths, wanted in (((4, 5, 12), "inmediatamente"), ((4, 5, 13), None)):
        repair = Repair(ranks, counts, Counter(), RepairSettings(lengths=lengths))
        assert repair.found.get("inmeditament", (None,))[0] == wanted


def test_the_nearest_then_the_most_frequent_wins():
    ranks = {"pagado": 2, "pagada": 1, "pegado": 0}
    counts = Counter({"pagadx": 1, "pagado": 30, "pagada": 20, "pegado": 99})
    assert Repair(ranks, counts, Counter(), RepairSettings()).found == {"pagadx": ("pagado", "near")}


def test_without_a_language_nothing_is_spanish():
    assert found({"recivido": 1}, language=None) == {}
    assert "spelling" not in Repair(RANKS, Counter(), Counter(), RepairSettings()).rules
    assert found({"cupon": 1}, language=None) == {"cupon": ("cupón", "accents")}


def test_kept_words_and_numbers_stay():
    assert found({"cupon": 1}, keep={"cupon"}) == {}
    assert found({"cupon2": 1}) == {}


@given(st.dictionaries(st.text("abvñéllx-", min_size=1, max_size=8), st.integers(1, 5)), st.data())
def test_only_unknown_words_change_and_into_known_ones(counts, data):
    known = data.draw(st.lists(st.sampled_from(sorted(counts)), unique=True)) if counts else []
    found = Repair({w: r for r, w in enumerate(known)}, Counter(counts), Counter(), RepairSettings(language="es"))
    for word, (better, _) in found.found.items():
        assert word in counts
        assert word not in known
        assert set(better.split(" ")) <= set(known)
