"""Losses on vectors, and the scores of words that a vector gives: torch alone."""
