"""Bilingual websites to a corpus of sentence pairs that mean the same, and pairs that do not."""
