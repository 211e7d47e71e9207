"""From predicted vectors to words: scores, search, generation, tuning."""
