"""What fairseq's trainer lacks: optimisers, schedulers, checks, presets, batches and checkpoints."""
