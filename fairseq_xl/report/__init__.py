"""What a paper prints: tables, significance, curves, and the records they are made from."""
