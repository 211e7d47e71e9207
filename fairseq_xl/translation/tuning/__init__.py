"""Which decoding options suit a trained model: a search on the development set.

``points`` has what is tried, ``decoding`` translates by it, ``outcomes`` scores that, ``results`` keeps the scores,
``search`` goes from one point to the next, and ``choice`` says the best one to people and programs.
"""
