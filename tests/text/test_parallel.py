from __future__ import annotations

from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_lines
from fairseq_xl.text.parallel import Rules, check_equal_counts, clean

ODD = "\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"


@pytest.fixture
def corpus(tmp_path):
    """Writes the two sides and cleans them; returns the report and the pairs that are left."""

    def run(pairs, **rules):
        paths = [tmp_path / name for name in ("x.de", "x.en", "y.de", "y.en")]
        for path, side in zip(paths, zip(*pairs, strict=True), strict=False):
            path.write_bytes("".join(line + "\n" for line in side).encode())
        report = clean(*paths, Rules(**rules))
        return report, list(zip(read_lines(paths[2]), read_lines(paths[3]), strict=True))

    return run


PAIRS = [("ein Haus", "a house"), ("", "nothing"), ("a b c d e", "x"), ("eins zwei drei", "   ")]


def test_pairs_are_dropped_and_counted_by_reason(corpus):
    report, left = corpus(PAIRS, max_tokens=4)
    assert left == [("ein Haus", "a house")]
    assert asdict(report) == {"read": 4, "written": 1, "reasons": {"empty": 2, "too long": 1}}
    assert str(report) == "4 pairs read, 1 written; 2 empty, 1 too long"


def test_kept_pairs_are_counted_too(corpus):
    report, left = corpus(PAIRS, max_ratio=3, empty="keep", long="drop")
    assert left == [("ein Haus", "a house"), ("", "nothing"), ("eins zwei drei", "")]
    assert report.reasons == {"empty": 2, "ratio": 1}


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"empty": "error"}, r"line 2 of .*x\.de and .*x\.en: empty"),
        ({"max_tokens": 4, "long": "error"}, r"line 3 of .*: too long \(5 and 1 tokens\)"),
        ({"max_tokens": 1, "empty": "drop"}, "no pair of .* is left"),
    ],
)
def test_errors_name_the_pair_and_leave_no_output(corpus, tmp_path, rules, message):
    with pytest.raises(InputError, match=message):
        corpus(PAIRS, **rules)
    assert not (tmp_path / "y.de").exists()


def test_impossible_limits_are_refused():
    with pytest.raises(InputError, match="--max-ratio"):
        Rules(max_ratio=0.5)
    with pytest.raises(InputError, match="--max-tokens"):
        Rules(max_tokens=-1)


def test_unequal_counts_name_both_files(tmp_path):
    (tmp_path / "a.de").write_bytes(b"1\n2\n3")
    (tmp_path / "a.en").write_bytes(b"1\n2\n")
    with pytest.raises(InputError, match=r"a\.de has 3 lines and .*a\.en has 2"):
        check_equal_counts(tmp_path / "a.de", tmp_path / "a.en")
    (tmp_path / "none").write_bytes(b"")
    with pytest.raises(InputError, match="are empty"):
        check_equal_counts(tmp_path / "none", tmp_path / "none")


@given(gaps=st.lists(st.text(st.sampled_from(ODD + " "), max_size=3), min_size=1, max_size=20))
def test_odd_line_breaks_never_shift_the_alignment(tmp_path_factory, gaps):
    folder = tmp_path_factory.mktemp("odd")
    names = [folder / name for name in ("x.de", "x.en", "y.de", "y.en")]
    for path, word in zip(names, ("links", "rechts"), strict=False):
        lines = (f"{gap}{word}{gap}{number}{gap}\n" for number, gap in enumerate(gaps))
        path.write_bytes("".join(lines).encode())
    clean(*names)
    # What any other reader makes of the result, not only ours
    left, right = (path.read_text(encoding="utf-8").splitlines() for path in names[2:])
    assert len(left) == len(right) == len(gaps)
    for number, (x, y) in enumerate(zip(left, right, strict=True)):
        assert x.replace("links", "").strip() == y.replace("rechts", "").strip() == str(number)
