"""Continuous-output translation: decoders that predict word vectors (importing registers them with fairseq)."""

from fairseq_xl.continuous import (  # noqa: F401
    annealed,
    criteria,
    in_batch,
    info_nce,
    lstm,
    power_spherical,
    task,
    transformer,
)
