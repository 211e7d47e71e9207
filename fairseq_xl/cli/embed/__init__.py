"""Commands of sentence embeddings."""
