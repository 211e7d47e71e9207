"""Sequence-to-sequence models whose decoder predicts word vectors."""
