"""Pairs of sentences, and the data directory made of them."""
