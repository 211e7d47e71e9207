"""Hostile files for parsers and hostile circumstances for commands: see scripts/fuzz.py."""
