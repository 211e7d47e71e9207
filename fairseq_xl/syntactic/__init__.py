"""Sentence embeddings that carry syntax, learned by predicting the part-of-speech tags of a translation.

Its commands are those of ``fairseq-xl embed``, and its task is ``upos_translation``.
"""
