"""Corpora and tokens: reading, cleaning, splitting and tokenising text. Imports no fairseq."""
