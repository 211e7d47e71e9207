"""Sentences to vectors: with any model of fairseq that offers ``encode_sentences(tokens (N, T), lengths (N,))``, and
with models, arrays and word vectors from elsewhere (:mod:`.registry`).

A model's task turns raw text into tokens (``encode_text``) and names the files that this takes (``text_files``).
"""
