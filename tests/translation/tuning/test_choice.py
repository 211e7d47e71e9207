"""The best point as options."""

from __future__ import annotations

from fairseq_xl.translation.options import Decoding
from fairseq_xl.translation.tuning.choice import chosen, paste
from fairseq_xl.translation.tuning.outcomes import Outcome
from fairseq_xl.translation.tuning.points import Point, Tuning

START = Point("cosine", 20.0, 1.0, 0.0, 5)


def test_greedy_search_is_offered_where_it_is_better():
    found = {"1": Outcome(29.0, 0.9), "2": Outcome(30.0, 1.0)}
    greedy = chosen(START, Outcome(31.0, 1.0), found, Tuning())
    assert greedy == Decoding(
        beam=1, max_len_a=1.5, max_len_b=5, decode_score="cosine", decode_scale=20.0, decode_csls_weight=0.0
    )
    posterior = Point("vmf_posterior", 20.0, 0.5, 0.25, 5)
    beam = chosen(posterior, Outcome(29.5, 1.0), found, Tuning(max_len_a=0, max_len_b=200))
    assert (beam.beam, beam.lenpen, beam.temperature, beam.decode_scale) == (5, 2.0, 0.5, None)


def test_options_are_to_be_pasted_after_three_commands():
    options = Decoding(beam=5, lenpen=2.0, temperature=0.5, decode_score="vmf_posterior", decode_csls_weight=0.25)
    lines = [line.strip() for line in paste(options) if line.startswith("  ")]
    assert lines == [
        "--beam 5 --lenpen 2 --temperature 0.5"
        " --model-overrides \"{'decode_score': 'vmf_posterior', 'decode_csls_weight': 0.25}\"",
        "--beam 5 --lenpen 2 --temperature 0.5 --decode-score vmf_posterior --decode-csls-weight 0.25",
        "--search 'lenpen=2 temperature=0.5 decode_score=vmf_posterior decode_csls_weight=0.25'",
    ]
