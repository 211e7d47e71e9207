"""Parallel text with tags, and the data directory made of it."""
