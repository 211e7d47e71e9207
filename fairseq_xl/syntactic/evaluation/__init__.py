"""Do sentences that are near each other share their tags? Baselines, scores and maps."""
