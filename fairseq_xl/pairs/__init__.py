"""Do two sentences mean the same? Question matching and semantic similarity.

Its commands are those of ``fairseq-xl match``, and its task is ``pair_classification``. ``corpus`` makes such pairs.
"""
