"""Continuous-output translation: decoders that predict word vectors, and the criteria that train them.

Its commands are those of ``fairseq-xl translate``. :mod:`fairseq_xl.translation` has what they do with raw text.
"""
