"""Records of predictions, and comparisons of the systems that made them."""
