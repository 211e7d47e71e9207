"""Two languages' word vectors in one space."""
