"""Sentence embeddings that carry syntax: predict the UPOS tags of a translation (importing registers with fairseq).

Liu, De Andrade, Osama 2019, "Exploring Multilingual Syntactic Sentence Representations".
"""

from fairseq_xl.syntactic import criterion, model, task  # noqa: F401
