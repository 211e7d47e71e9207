"""Commands of experiments and reports."""
