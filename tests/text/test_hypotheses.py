from __future__ import annotations

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.text.hypotheses import read_hypotheses

LOG = """2026-01-01 | INFO | fairseq.tasks | H-9 is no hypothesis here
S-1\tzwei
T-1\ttwo
H-1\t-0.25\ttwo dogs
D-1\t-0.25\ttwo dogs
H-1\t-0.50\tsecond best
P-1\t-0.1 -0.2
S-0\teins
H-0\t-0.125\t
S-2\tdrei
H-2\t-1e-05\tthree\u2028cats
Generate test with beam=5: BLEU4 = 0.0
"""


def write(path, text=LOG):
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def test_best_hypotheses_come_in_sentence_order(tmp_path):
    log = write(tmp_path / "log")
    assert read_hypotheses(log) == ["", "two dogs", "three\u2028cats"]
    assert read_hypotheses(log, expected=3) == ["", "two dogs", "three\u2028cats"]


def test_missing_sentences_are_named(tmp_path):
    log = write(tmp_path / "log", LOG.replace("H-1", "X-1"))
    with pytest.raises(InputError, match=r"lacks the hypotheses of 1 of 3 sentences \(1\)"):
        read_hypotheses(log)
    with pytest.raises(InputError, match=r"of 8 of 10 sentences \(1, 3, 4, 5, 6, …\)"):
        read_hypotheses(log, expected=10)


def test_a_sentence_of_a_great_number_is_none_to_count_to(tmp_path):
    log = write(tmp_path / "log", LOG + "H-999999999999\t-1\tx\n")
    with pytest.raises(InputError, match=r"of 999999999996 of 1000000000000 sentences \(3, 4, 5, 6, 7, …\)"):
        read_hypotheses(log)
    assert len(read_hypotheses(write(log, LOG + f"H-{'9' * 5000}\t-1\tx\n"))) == 3


def test_a_log_of_another_set_is_refused(tmp_path):
    with pytest.raises(InputError, match="holds sentence 2 where 2 sentences"):
        read_hypotheses(write(tmp_path / "log"), expected=2)
    with pytest.raises(InputError, match="holds no H- line"):
        read_hypotheses(write(tmp_path / "log", "nothing\n"))
