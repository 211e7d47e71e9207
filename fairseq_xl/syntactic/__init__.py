"""Sentence embeddings that carry syntax, learned by predicting the part-of-speech tags of a translation."""
