"""Beam search over the best words against fairseq's over all of them, and through faiss."""

import pytest
import torch
from fairseq.search import Sampling
from fairseq.sequence_generator import SequenceGenerator
from tiny_models import batch

from fairseq_xl.continuous.nearest.generator import TopWordsGenerator
from fairseq_xl.continuous.nearest.index import WordIndex
from fairseq_xl.io.errors import InputError


def assert_same(ours, theirs, attention=True):
    for a, b in zip(ours, theirs, strict=True):
        assert [h["tokens"].tolist() for h in a] == [h["tokens"].tolist() for h in b]
        for x, y in zip(a, b, strict=True):
            assert torch.allclose(x["positional_scores"], y["positional_scores"], atol=1e-4)
            if attention:
                assert torch.allclose(x["attention"], y["attention"], atol=1e-5)


@pytest.mark.parametrize("score", ["cosine", "vmf_posterior", "vmf_density"])
@pytest.mark.parametrize("beam", [1, 5])
@pytest.mark.parametrize("options", [{}, {"unk_penalty": 0.7, "min_len": 3}, {"len_penalty": 0.2, "temperature": 1.7}])
def test_same_translations_as_over_all_words(build, score, beam, options):
    for seed in range(4):
        model, words = build(seed, decode_score=score, decode_csls_weight=0.5)
        options = {"beam_size": beam, "max_len_b": 12, **options}
        stock = SequenceGenerator([model], words, **options).generate([model], batch(34))
        ours = TopWordsGenerator([model], words, **options).generate([model], batch(34))
        assert_same(ours, stock)
        assert len({tuple(s[0]["tokens"].tolist()) for s in stock}) > 3


def test_prefixes_are_kept_and_scored_alike(build):
    prefix = torch.tensor([[9, 10, 1], [3, 11, 12], [50, 2, 1], [1, 1, 1], [7, 7, 7], [6, 3, 2], [8, 1, 1]])
    for seed in range(4):
        model, words = build(seed)
        found = [
            kind([model], words, beam_size=3, max_len_b=10).generate([model], batch(34), prefix_tokens=prefix)
            for kind in (TopWordsGenerator, SequenceGenerator)
        ]
        # A forced end is copied to all beams of a sentence, and fairseq leaves each its own attention.
        forced_end = [2 in row for row in prefix.tolist()]
        for sentence, ends in zip(zip(*found, strict=True), forced_end, strict=True):
            assert_same(*([translations] for translations in sentence), attention=not ends)
        assert found[0][0][0]["tokens"][:2].tolist() == [9, 10]


def test_a_forced_word_without_a_vector_is_said_and_scores_nothing(build):
    model, words = build()
    model.decoder.targets.banned[9] = True
    prefix = torch.tensor([[9, 10, 1], [11, 9, 12], [1, 1, 1], [9, 9, 9], [7, 9, 1], [6, 9, 2], [9, 1, 1]])
    top, dense = (
        kind([model], words, beam_size=3, max_len_b=10).generate([model], batch(34), prefix_tokens=prefix)
        for kind in (TopWordsGenerator, SequenceGenerator)
    )
    assert_same(top, dense, attention=False)
    for row, translations in zip(prefix.tolist(), dense, strict=True):
        forced = row[: row.index(1)] if 1 in row else row
        for translation in translations:
            assert translation["tokens"][: len(forced)].tolist() == forced
            scores = translation["positional_scores"][: len(forced)].tolist()
            assert [score == 0 for score in scores] == [word == 9 for word in forced]


def test_a_beam_wider_than_the_vocabulary(build):
    model, words = build()
    options = {"beam_size": 50, "max_len_b": 4}
    stock = SequenceGenerator([model], words, **options).generate([model], batch(34, 2))
    ours = TopWordsGenerator([model], words, **options).generate([model], batch(34, 2))
    assert [s[0]["tokens"].tolist() for s in ours] == [s[0]["tokens"].tolist() for s in stock]


@pytest.mark.parametrize("kind", ["flat", "hnsw", "ivf"])
@pytest.mark.parametrize("hubs", [0.0, 0.5])
def test_an_index_that_looks_everywhere_changes_nothing(build, kind, hubs):
    """vmf_density has no normaliser, so only the candidates decide, which are 8 of 60 words."""
    model, words = build(decode_score="vmf_density", decode_csls_weight=hubs)
    targets, scorer = model.decoder.targets, model.decoder.scorer
    index = WordIndex(targets, kind, words.nspecial, scorer.penalty(targets), effort=100)
    options = {"beam_size": 4, "max_len_b": 12}
    stock = SequenceGenerator([model], words, **options).generate([model], batch(34))
    ours = TopWordsGenerator([model], words, index=index, **options).generate([model], batch(34))
    assert_same(ours, stock)


def test_an_index_normalises_over_what_it_found(build):
    model, words = build(decode_score="vmf_posterior")
    index = WordIndex(model.decoder.targets, "flat", words.nspecial)
    ours = TopWordsGenerator([model], words, index=index, beam_size=3, max_len_b=5)
    stock = SequenceGenerator([model], words, beam_size=3, max_len_b=5)
    for a, b in zip(ours.generate([model], batch(34)), stock.generate([model], batch(34)), strict=True):
        assert a[0]["positional_scores"][0] > b[0]["positional_scores"][0]


def test_what_needs_every_score_is_refused(build):
    model, words = build()
    softmax, _ = build(decoder_output="continuous")
    softmax.decoder.targets = None
    with pytest.raises(InputError, match="one model, not 2"):
        TopWordsGenerator([model, model], words)
    with pytest.raises(InputError, match="this model has a softmax"):
        TopWordsGenerator([softmax], words)
    with pytest.raises(InputError, match="plain beam search"):
        TopWordsGenerator([model], words, search_strategy=Sampling(words))
    with pytest.raises(InputError, match="--no-repeat-ngram-size"):
        TopWordsGenerator([model], words, no_repeat_ngram_size=2)
