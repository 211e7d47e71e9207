"""Continuous-output translation."""
