"""Commands of pair classification."""
