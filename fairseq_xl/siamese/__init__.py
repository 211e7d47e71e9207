"""The twin classifier: a rich language lends its labels to a poor one (importing registers it with fairseq)."""

from fairseq_xl.siamese import criterion, model, task  # noqa: F401
