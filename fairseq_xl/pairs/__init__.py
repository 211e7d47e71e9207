"""Do two sentences mean the same? Question matching and semantic similarity.

Its commands are those of ``fairseq-xl match``, and its task is ``siamese_matching``. ``corpus`` makes such pairs.
"""
