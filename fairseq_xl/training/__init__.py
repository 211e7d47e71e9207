"""Beside fairseq's trainer: optimisers, schedulers, checks, presets; and how models are kept and run: checkpoints,
weights without code, batches of like length, devices."""
