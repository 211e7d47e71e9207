"""More labelled pairs, and repaired ones: label transfer through translation, spelling."""
