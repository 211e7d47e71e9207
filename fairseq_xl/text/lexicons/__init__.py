"""Word translations learnt from parallel text."""
