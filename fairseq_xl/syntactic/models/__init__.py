"""The encoder that predicts the tags of a translation, and what registers it with fairseq."""
