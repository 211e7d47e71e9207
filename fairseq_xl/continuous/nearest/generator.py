"""Beam search over the best few words of each step, for vocabularies too large to score densely.

A beam of b needs no more than the 2b best words of every hypothesis. fairseq's generator asks for a score of every word
in the dictionary, (batch · beam, V). It edits the columns of padding, end of sentence and unknown by their number. Here
it gets a small vocabulary instead, a new one at each step. Column i < `nspecial` is still special token i, and the
others are the best ordinary words. The search turns columns back into words.
"""

from __future__ import annotations

from typing import Any

import torch
from fairseq.data import Dictionary
from fairseq.search import BeamSearch
from fairseq.sequence_generator import EnsembleModel, SequenceGenerator
from torch import Tensor

from fairseq_xl.continuous.nearest.index import WordIndex
from fairseq_xl.io.errors import InputError
from fairseq_xl.losses.scores import Scoring, top_of, top_words, word_logits


class TopWordsGenerator(SequenceGenerator):
    """fairseq's beam search, with the same result as over all words when no index approximates them.

    Args:
        models: exactly one, with a continuous output.
        tgt_dict: its target dictionary.
        index: finds the candidates; None reads the whole table in blocks, which is exact.
        others: options of ``SequenceGenerator``. Those that must see every word's score are refused.

    Raises:
        InputError: an ensemble, a softmax output, or a search other than plain beam search.
    """

    def __init__(self, models: list[Any], tgt_dict: Dictionary, index: WordIndex | None = None, **others: Any):
        if len(models) != 1:
            raise InputError(
                f"--nearest other than dense takes one model, not {len(models)}: an ensemble averages every word's "
                "score, which --nearest dense gives"
            )
        targets = getattr(models[0].decoder, "targets", None)
        if targets is None:
            raise InputError("--nearest is for continuous outputs; this model has a softmax: leave it out")
        if type(others.get("search_strategy") or BeamSearch(tgt_dict)) is not BeamSearch:
            raise InputError(
                "--nearest other than dense does plain beam search: leave out sampling, constraints and "
                "diverse search, or use --nearest dense"
            )
        for option in ("no_repeat_ngram_size", "lm_model", "tokens_to_suppress"):
            if others.get(option):
                raise InputError(f"--{option.replace('_', '-')} edits every word's score: use --nearest dense with it")
        super().__init__(models, tgt_dict, **others)
        ordinary = int((~targets.banned[tgt_dict.nspecial :]).sum())
        words = min(2 * self.beam_size, ordinary)
        self.model = _ColumnModel(models, tgt_dict.nspecial, words, index)
        self.search = _ColumnSearch(tgt_dict, self.model)
        self.vocab_size = tgt_dict.nspecial + words

    def _prefix_tokens(
        self, step: int, lprobs: Tensor, scores: Tensor, tokens: Tensor, prefix_tokens: Tensor, beam_size: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        """A forced word takes the first ordinary column, whatever stood there."""
        first = self.tgt_dict.nspecial
        forced = prefix_tokens[:, step].unsqueeze(1).repeat(1, beam_size).view(-1)
        ordinary = forced >= first
        score = self.model.log_score_of(forced)
        lprobs[ordinary, first] = score[ordinary]
        self.model.words[ordinary, first] = forced[ordinary]
        columns = prefix_tokens.clone()
        columns[:, step] = columns[:, step].clamp(max=first)
        lprobs, tokens, scores = super()._prefix_tokens(step, lprobs, scores, tokens, columns, beam_size)
        ended = forced.eq(self.eos).view(-1, beam_size)[:, 0]
        if ended.any():
            self.model.words = self.replicate_first_beam(self.model.words, ended, beam_size)
        return lprobs, tokens, scores


class _ColumnModel(EnsembleModel):
    """Scores (batch · beam, columns) instead of (batch · beam, V), and which word each column stands for."""

    def __init__(self, models: list[Any], special: int, k: int, index: WordIndex | None):
        super().__init__(models)
        self.special = special
        self.k = k
        self.index = index
        self.words = torch.zeros(0, special + k, dtype=torch.long)
        """(batch · beam, columns) of the latest step"""
        self.step: tuple[Tensor, Scoring, Tensor]
        """predictions, rule and shift of the latest step"""

    def forward_decoder(
        self, tokens: Tensor, encoder_outs: Any, incremental_states: Any, temperature: float = 1.0
    ) -> tuple[Tensor, Tensor]:
        decoder = self.single_model.decoder
        output, extra = decoder(tokens, encoder_out=encoder_outs[0], incremental_state=incremental_states[0])
        pred = output[:, -1] / temperature
        targets = decoder.targets
        rule = decoder.scorer.scoring(pred, targets, extra["norm"][0][:, -1])
        if self.index is None:
            top = top_words(pred, targets, self.k, rule, reserved=self.special)
        else:
            found = self.index.search(rule.unit_and_sharpness(pred)[0], self.k)
            top = top_of(pred, targets, found, self.k, rule, reserved=self.special)
        self.step = (pred, rule, top.shift)
        special = torch.arange(self.special, device=pred.device).expand(pred.shape[0], -1)
        head = self._log_scores(special).masked_fill(targets.banned[: self.special], -torch.inf)
        self.words = torch.cat([special, top.words], 1)
        return torch.cat([head, top.log_scores], 1), extra["attn"][0][:, -1]

    def log_score_of(self, word: Tensor) -> Tensor:
        """(batch · beam,) score of one word of each hypothesis at the latest step, −inf if it has no vector."""
        score = self._log_scores(word.unsqueeze(1)).squeeze(1)
        return score.masked_fill(self.single_model.decoder.targets.banned[word], -torch.inf)

    def _log_scores(self, words: Tensor) -> Tensor:
        pred, rule, shift = self.step
        targets = self.single_model.decoder.targets
        return word_logits(*rule.unit_and_sharpness(pred), targets, words, rule) + shift


class _ColumnSearch(BeamSearch):
    def __init__(self, tgt_dict: Dictionary, model: _ColumnModel):
        super().__init__(tgt_dict)
        self.columns_of = model

    def step(self, step: int, lprobs: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor, Tensor]:
        batch, _, width = lprobs.shape
        scores, columns, beams = super().step(step, lprobs, *args, **kwargs)
        words = self.columns_of.words.view(batch, -1).gather(1, beams * width + columns)
        return scores, words, beams
