"""Raw text in, raw text out: model folders, the options of a search, and the commands around them."""
