"""Continuous-output translation: decoders that predict word vectors, and the criteria that train them.

Its commands are those of ``fairseq-xl translate``, which :mod:`fairseq_xl.translation` has.
"""
