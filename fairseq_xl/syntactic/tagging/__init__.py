"""Taggers: training, running and judging them."""
