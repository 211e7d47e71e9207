"""Scores, records and comparisons of pair classifiers."""
