"""A bilingual website: its addresses, pages, and which page is the counterpart of which."""
