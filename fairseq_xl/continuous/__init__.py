"""Continuous-output translation: decoders that predict word vectors (importing registers them with fairseq)."""

from fairseq_xl.continuous import criteria, lstm, task, transformer  # noqa: F401
