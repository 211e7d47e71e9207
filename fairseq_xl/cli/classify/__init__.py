"""Commands of the Siamese classifier."""
