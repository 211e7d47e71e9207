"""Names and values of decoding options, against those of fairseq and of the models."""

from __future__ import annotations

from dataclasses import fields

import pytest
from fairseq.dataclass.configs import GenerationConfig

from fairseq_xl.cli.translate.pack import Pack
from fairseq_xl.cli.translate.text import Text
from fairseq_xl.continuous.models.config import DecodingConfig
from fairseq_xl.continuous.nearest.task import ContinuousTranslationConfig
from fairseq_xl.losses import SCORES
from fairseq_xl.translation import options
from fairseq_xl.translation.options import Decoding, NearestWords, Search, VectorScores, decoding
from fairseq_xl.vectors.faiss_index import KINDS


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(Search, GenerationConfig), (VectorScores, DecodingConfig), (NearestWords, ContinuousTranslationConfig)],
)
def test_each_option_is_one_of_what_reads_it(ours, theirs):
    assert {each.name for each in fields(ours)} <= {each.name for each in fields(theirs)}


def test_choices_are_those_of_the_models():
    assert SCORES == options.SCORES
    assert ("dense", "top", *KINDS) == options.NEAREST
    assert {each.name for each in fields(VectorScores)} == {each.name for each in fields(DecodingConfig)} - {"_name"}


@pytest.mark.parametrize("command", [Text, Pack])
def test_the_help_says_what_counts_where_nothing_is_given(command):
    own = GenerationConfig()
    said = (
        f"the beam is {own.beam}, the length penalty {own.lenpen}, and a translation has {own.max_len_b} tokens at most"
    )
    assert said in " ".join(command.__doc__.split())
    assert own.max_len_a == 0


def test_what_is_given_goes_before_a_folders_own():
    folder = {"replace_unk": True, "replace_unk_distance": 0.6, "nearest": "hnsw", "nearest_effort": 2.0}
    made = decoding({"replace_unk": False, "nearest": "dense"}, folder)
    assert (made.replace_unk, made.nearest) == (False, "dense"), "what a folder says of either does not keep it on"
    folder = {"sampling": True, "sampling_topk": 5, "lenpen": 2.0, "max_len_a": 1.5, "max_len_b": 5}
    made = decoding({"sampling_topp": 0.5, "unnormalized": True, "match_source_len": True}, folder)
    assert made.given() == {"sampling": True, "sampling_topp": 0.5, "unnormalized": True, "match_source_len": True}
    assert decoding({"unnormalized": False}, folder).lenpen == 2


def test_options_fall_apart_by_who_reads_them():
    made = decoding({"beam": 3, "lenpen": 1, "decode_score": "cosine", "nearest": "top", "sampling": False})
    assert made == Decoding(beam=3, lenpen=1, decode_score="cosine", nearest="top", sampling=False)
    assert made.given(Search) == {"beam": 3, "lenpen": 1, "sampling": False}
    assert made.given(VectorScores) == {"decode_score": "cosine"}
    assert made.given(NearestWords) == {"nearest": "top"}
    assert made.given() == made.given(Search) | made.given(VectorScores) | made.given(NearestWords)
