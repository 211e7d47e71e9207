"""The measurements of scripts/benchmark.py, a sub-command a module."""
