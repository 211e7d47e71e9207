"""Lines of two languages that mean the same: translators, aligners and their quality."""
