"""Continuous-output translation: decoders that predict word vectors (importing registers them with fairseq)."""

from fairseq_xl.continuous import criteria  # noqa: F401
from fairseq_xl.continuous.decoding import task  # noqa: F401
from fairseq_xl.continuous.models import (
    lstm,  # noqa: F401
    transformer,  # noqa: F401
)
