"""Do two sentences mean the same? Question matching and semantic similarity."""
