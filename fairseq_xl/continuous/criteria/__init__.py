"""The losses as criteria of fairseq: importing registers them. A new one is a file here and a line below."""

from fairseq_xl.continuous.criteria import (
    annealed,  # noqa: F401
    combined,  # noqa: F401
    distances,  # noqa: F401
    info_nce,  # noqa: F401
    margins,  # noqa: F401
    power_spherical,  # noqa: F401
    sampled_softmax,  # noqa: F401
    vmf,  # noqa: F401
    vmf_posterior,  # noqa: F401
)
