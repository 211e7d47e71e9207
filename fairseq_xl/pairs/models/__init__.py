"""The pair classifiers, and what registers them with fairseq."""
