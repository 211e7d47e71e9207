"""What stands in the place of eole's output layer: vectors from decoder states, and words from vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import Tensor, nn

from fairseq_xl.eole.settings import Continuous
from fairseq_xl.losses import FrozenTable, Hubs, Scoring, log_scores, word_bonus


class VectorGenerator(nn.Module):
    """eole's search asks it for scores of every word; the loss asks for :meth:`vectors` and reads ``targets``.

    Args:
        hidden: size C of decoder states.
        targets: the frozen table (V, d).
        log_frequency: (V,), a buffer, see :func:`fairseq_xl.vectors.targets.log_frequency`.
        settings: of the model.
    """

    if TYPE_CHECKING:
        log_frequency: Tensor

    def __init__(self, hidden: int, targets: FrozenTable, log_frequency: Tensor, settings: Continuous) -> None:
        super().__init__()
        self.projection = nn.Linear(hidden, targets.dim)
        self.targets = targets
        self.register_buffer("log_frequency", log_frequency)
        self.settings = settings
        self.hubs = Hubs()

    def vectors(self, states: Tensor) -> Tensor:
        """Raw predictions (…, d) of decoder states (…, C)."""
        return self.projection(states) * self.settings.output_scale

    def forward(self, states: Tensor) -> Tensor:
        """Log-scores (…, V) of decoder states (…, C), as eole's search wants them; they have no gradient."""
        return log_scores(self.vectors(states).detach(), self.targets, self.scoring())

    def scoring(self) -> Scoring:
        """How a cosine to a word becomes its log-score."""
        settings = self.settings
        penalty = settings.decode_csls_weight * self.hubs.of(self.targets) if settings.decode_csls_weight else None
        prior = settings.decode_prior_weight * self.log_frequency.float() if settings.decode_prior_weight else None
        bonus = word_bonus(self.targets, prior)
        return Scoring(settings.decode_score, settings.decode_scale, penalty=penalty, bonus=bonus)
