"""A trained Siamese encoder as a classifier of text."""
