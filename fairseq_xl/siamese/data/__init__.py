"""Labelled text of a low- and a high-resource language, and the data directory made of it."""
