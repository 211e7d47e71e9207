"""Word-vector tables: train, read, write, convert, measure. Imports no fairseq, and torch for checkpoints alone."""
