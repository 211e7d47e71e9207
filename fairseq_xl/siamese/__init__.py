"""The Siamese encoder: labels of a high-resource language help to classify text of a low-resource one.

Its commands are those of ``fairseq-xl classify``, and its task is ``siamese_contrastive``.
"""
