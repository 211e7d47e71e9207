"""Continuous-output translation: decoders that predict word vectors."""
