"""fairseq-xl vectors."""
