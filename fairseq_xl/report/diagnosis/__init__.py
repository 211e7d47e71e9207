"""What ``fairseq-xl translate diagnose`` measured, as tables and pictures of a report."""
