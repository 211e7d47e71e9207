"""fairseq-xl corpus."""
