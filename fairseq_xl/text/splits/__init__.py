"""Which text is trained on, and which is held out."""
