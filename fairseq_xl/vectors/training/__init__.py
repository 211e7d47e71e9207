"""Word vectors trained on text."""
