"""Documents of two languages: the project folder, extraction, words and topics."""
