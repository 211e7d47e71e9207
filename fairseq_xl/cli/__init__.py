"""The command fairseq-xl: every command and its options."""
