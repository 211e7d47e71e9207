"""Labelled pairs of sentences: positives, negatives, splits, and the files that are published."""
