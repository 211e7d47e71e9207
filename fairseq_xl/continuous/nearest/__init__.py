"""The search for words near predicted vectors: an index of the table, and the generation that uses it."""
