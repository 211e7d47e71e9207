"""Corpora and tokens: reading, cleaning, tokenising and fetching text. Imports no fairseq."""
