"""Commands of text and data."""
