"""Continuous-output translation: decoders that predict word vectors (importing registers them with fairseq)."""

from fairseq_xl.continuous.criteria import (
    annealed,  # noqa: F401
    in_batch,  # noqa: F401
    info_nce,  # noqa: F401
    power_spherical,  # noqa: F401
)
from fairseq_xl.continuous.criteria import papers as criteria  # noqa: F401
from fairseq_xl.continuous.decoding import task  # noqa: F401
from fairseq_xl.continuous.models import (
    lstm,  # noqa: F401
    transformer,  # noqa: F401
)
