"""The losses as criteria of fairseq."""
