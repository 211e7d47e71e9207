"""Sides that are the wrong way round."""

import pytest

from fairseq_xl.text.languages import likeness, wrong_way_round

ENGLISH = ["The dog is in the garden.", "You see it.", "Two birds!"]
GERMAN = ["Der Hund ist im Garten.", "Du siehst es nicht.", "Zwei Vögel!"]
KOREAN = ["개가 정원에 있다.", "너는 그것을 본다.", "새 두 마리!"]
INVENTED = ["tavi mo rel", "sanu kel", "oru"]


@pytest.mark.parametrize(
    ("left", "right", "languages"),
    [
        (GERMAN, ENGLISH, ("de", "en")),
        (KOREAN, ENGLISH, ("ko", "en")),
        (KOREAN, GERMAN, ("kor", "deu")),
        (INVENTED, ENGLISH, ("qel", "en")),
    ],
)
def test_each_pair_is_told_from_its_reverse(left, right, languages):
    pairs = list(zip(left, right, strict=True))
    assert not wrong_way_round(pairs, languages)
    assert wrong_way_round([pair[::-1] for pair in pairs], languages)


def test_nothing_is_said_of_what_is_not_known():
    assert likeness(INVENTED, "qel") is None
    assert not wrong_way_round(list(zip(INVENTED, INVENTED, strict=True)), ("qel", "xx"))
    assert not wrong_way_round([], ("de", "en"))


def test_one_script_for_both_decides_nothing():
    pairs = [("Собака в саду.", "Собака в саду.")] * 5
    assert not wrong_way_round(pairs, ("ru", "uk"))


def test_the_share_of_lines_that_look_like_it():
    assert likeness(ENGLISH, "eng") == pytest.approx(2 / 3)
    assert likeness(KOREAN, "ko") == 1
