"""How near a model's vectors come to their targets, and what its negatives are."""
