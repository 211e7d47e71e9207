"""Experiments of many runs: what to run, running it, and handing its outputs to ``report``."""
