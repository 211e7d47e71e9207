"""Baselines of the Siamese encoder, and comparisons of what they scored."""
