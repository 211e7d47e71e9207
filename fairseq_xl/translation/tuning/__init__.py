"""Which decoding options suit a trained model: a search on the development set.

``points`` has what is tried. ``decoding`` translates by it, ``outcomes`` scores that, and ``results`` keeps the scores.
``search`` goes from one point to the next. ``choice`` shows what was tried, and the best of it as options.
"""
