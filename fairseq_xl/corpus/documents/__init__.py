"""Documents of two languages: extraction, words and topics."""
