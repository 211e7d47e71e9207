"""Commands of translation."""
