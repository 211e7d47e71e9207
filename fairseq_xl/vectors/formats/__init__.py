"""The files that word vectors are kept in."""
