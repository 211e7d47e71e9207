"""Network parts that more than one package uses; plain torch."""
