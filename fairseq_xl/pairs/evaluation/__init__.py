"""Scores, records, baselines and comparisons of pair classifiers."""
