"""Word-vector tables: train, read, write, convert, measure. Imports neither fairseq nor torch."""
