"""Network parts that more than one room uses; plain torch."""
